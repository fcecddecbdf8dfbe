"""Packages as a person names them: one exact version a line; pure."""

from __future__ import annotations

from dataclasses import dataclass

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

MOST_PACKAGES = 100
LONGEST_LINE = 200


class WantedInvalid(Exception):
    """A line that names no exact version of a package; the text says which line and what helps."""


@dataclass(frozen=True)
class Wanted:
    """A package, the line it was named at (from 1), its extras and its exact version."""

    line: int
    name: str
    version: str
    extras: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The line as pip takes it."""
        extras = f"[{','.join(self.extras)}]" if self.extras else ""
        return f"{self.name}{extras}=={self.version}"

    @property
    def key(self) -> str:
        """The name under which an index knows the package (PEP 503)."""
        return str(canonicalize_name(self.name))


def read_wanted(text: str) -> tuple[Wanted, ...]:
    """Return what the lines of a text name; blank lines and comments (#) are nothing. Raises WantedInvalid."""
    found: dict[str, Wanted] = {}
    for number, line in enumerate(text.splitlines(), 1):
        said = line.partition("#")[0].strip()
        if not said:
            continue
        wanted = _read(number, said)
        if wanted.key in found:
            first = found[wanted.key].line
            raise WantedInvalid(
                f"Line {number}: {wanted.name} stands in line {first} already. Keep one of them."
            )
        found[wanted.key] = wanted
    if len(found) > MOST_PACKAGES:
        raise WantedInvalid(f"These are {len(found)} packages. Name {MOST_PACKAGES} at most.")
    return tuple(found.values())


def as_text(wanted: tuple[Wanted, ...]) -> str:
    """Return the packages in the order of their names, one a line: the same packages are the same text."""
    return "".join(f"{each.text}\n" for each in sorted(wanted, key=lambda each: each.key))


def _read(number: int, said: str) -> Wanted:
    """Return what a line names; whatever pip would take beyond a name and a version is refused."""
    if len(said) > LONGEST_LINE:
        raise WantedInvalid(f"Line {number} is longer than a name and a version. Write such as idna==3.10.")
    try:
        requirement = Requirement(said)
    except InvalidRequirement:
        raise WantedInvalid(
            f"Line {number}: “{said}” names no package. Write a name and a version, such as idna==3.10."
        ) from None
    if requirement.url or requirement.marker:
        raise WantedInvalid(
            f"Line {number}: “{said}” has an address or a condition. Write a name and a version only."
        )
    specifiers = list(requirement.specifier)
    exact = len(specifiers) == 1 and specifiers[0].operator == "==" and "*" not in specifiers[0].version
    if not exact:
        raise WantedInvalid(
            f"Line {number}: “{said}” is not one exact version. Write {requirement.name}== and the version."
        )
    try:
        version = str(Version(specifiers[0].version))
    except InvalidVersion:
        raise WantedInvalid(
            f"Line {number}: {specifiers[0].version} is no version. Write one that the package was published in."
        ) from None
    return Wanted(number, requirement.name, version, tuple(sorted(requirement.extras)))
