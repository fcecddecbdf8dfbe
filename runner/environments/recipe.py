"""What an environment is made of: a name, a parent, and packages fixed by version and hash."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

RECIPES = Path(__file__).parent / "recipes"
PYTHON = "3.13"
SUITE = "trixie"


class BuildFailed(Exception):
    """An image could not be made; the text says what to do."""


@dataclass(frozen=True)
class Recipe:
    """How to make one image.

    `requirements` is the text of a hashed requirements file, "" for an image with the language alone; `parent` is
    the recipe it stands on. `memory_bytes` is what a run in it needs at least. `provides` are the
    top-level modules that a program may import beyond the standard library. `debian` are Debian packages beside the
    supervisor's Python: such an image is always made from the Debian mirror. `version` is the command that prints the
    version of the language, () for Python's own. An image that is not `usual` is built only when it is asked for by name.
    `suite` is the Debian whose Python is `python`.
    """

    name: str
    tag: str
    parent: Recipe | None = None
    requirements: str = ""
    memory_bytes: int = 256 << 20
    language: str = "python"
    provides: tuple[str, ...] = ()
    debian: tuple[str, ...] = ()
    version: tuple[str, ...] = ()
    usual: bool = True
    python: str = PYTHON
    suite: str = SUITE

    def digest(self, parent_digest: str = "") -> str:
        """Return the hash that tells whether an image was made from this recipe on this parent."""
        made_from = (self.name, self.tag, self.python, self.suite, self.requirements, parent_digest)
        return hashlib.sha256("\0".join((*made_from, _HOW, *self.debian)).encode()).hexdigest()


# What an import statement calls the packages of recipes/science.in, and those they bring.
SCIENCE = (
    "certifi",
    "charset_normalizer",
    "click",
    "dateutil",
    "flask",
    "idna",
    "itsdangerous",
    "jinja2",
    "joblib",
    "markupsafe",
    "matplotlib",
    "mpl_toolkits",
    "numpy",
    "packaging",
    "pandas",
    "PIL",
    "requests",
    "scipy",
    "six",
    "sklearn",
    "tornado",
    "urllib3",
    "werkzeug",
)

# Raise it when building.py or debian.py make an image differently from the same recipe.
_HOW = "1"


def recipes() -> dict[str, Recipe]:
    """Return the recipes we ship, by name, parents first."""
    plain = Recipe("plain", f"benchwright/python:{PYTHON}")
    science = Recipe(
        "science",
        f"benchwright/python-science:{PYTHON}",
        plain,
        (RECIPES / "science.txt").read_text(),
        provides=SCIENCE,
    )
    node = Recipe(
        "node",
        f"benchwright/node:{SUITE}",
        language="javascript",
        debian=("nodejs",),
        version=("node", "--version"),
        usual=False,
    )
    cpp = Recipe(
        "cpp",
        f"benchwright/cpp:{SUITE}",
        language="cpp",
        debian=("g++",),
        version=("g++", "-dumpfullversion"),
        usual=False,
    )
    return {recipe.name: recipe for recipe in (plain, science, node, cpp)}
