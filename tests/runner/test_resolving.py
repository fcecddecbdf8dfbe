"""Named packages become hashed wheels: exact lines, an index of our own in a folder, nothing executed."""

from __future__ import annotations

import hashlib
import re
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from runner.environments import resolving
from runner.environments.recipe import BuildFailed, recipes
from runner.environments.resolving import Target, lock, read_lock, resolve
from runner.environments.suites import offered
from runner.environments.wanted import WantedInvalid, as_text, read_wanted
from runner.environments.wheels import wheels_for

TARGET = Target("3.11.2", "bookworm")


def make_wheel(
    folder: Path,
    name: str,
    version: str,
    *,
    needs: tuple[str, ...] = (),
    python: str = ">=3.8",
    tag: str = "py3-none-any",
    source: str = "VALUE = 1\n",
) -> str:
    """Write a wheel of one module into the folder and return its hash."""
    info = f"{name}-{version}.dist-info"
    lines = [f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\nRequires-Python: {python}"]
    lines += [f"Requires-Dist: {each}" for each in needs]
    path = folder / f"{name}-{version}-{tag}.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr(f"{name}.py", source)
        wheel.writestr(f"{info}/METADATA", "\n".join(lines) + "\n")
        wheel.writestr(f"{info}/WHEEL", f"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: {tag}\n")
        wheel.writestr(f"{info}/RECORD", f"{name}.py,,\n{info}/METADATA,,\n{info}/WHEEL,,\n{info}/RECORD,,\n")
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that pip takes for its whole index."""
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    return tmp_path


def test_all_that_is_needed_is_locked_with_its_hash_and_who_needs_it(index: Path) -> None:
    make_wheel(index, "bw_top", "1.0", needs=("bw-leaf<2", 'bw_never; python_version < "3.11"'))
    make_wheel(index, "bw_leaf", "2.0")
    digest = make_wheel(index, "bw_leaf", "1.9")
    text = lock(resolve(read_wanted("bw-top==1.0"), TARGET))
    found = {each.name: each for each in read_lock(text)}
    assert {name: each.version for name, each in found.items()} == {"bw_leaf": "1.9", "bw_top": "1.0"}
    assert found["bw_leaf"].hashes == [digest]
    assert (found["bw_leaf"].needed_by, found["bw_top"].needed_by) == ("bw_top", "")


def test_conditions_are_those_of_the_python_it_is_for() -> None:
    older, newer = Target("3.11.2", "bookworm"), Target("3.13.5", "trixie")
    needs = Requirement('x; python_full_version < "3.11.3"')
    assert (older.holds(needs, ()), newer.holds(needs, ())) == (True, False)
    extra = Requirement('x; extra == "fast"')
    assert (older.holds(extra, ()), older.holds(extra, ("fast",))) == (False, True)


def test_a_package_that_needs_an_address_is_refused_and_nothing_of_it_is_run(index: Path) -> None:
    mark = index / "ran"
    trap = index / "trap"
    trap.mkdir()
    (trap / "setup.py").write_text(f"open({str(mark)!r}, 'w')\n")
    make_wheel(index, "bw_sly", "1.0", needs=(f"trap @ file://{trap}",))
    with pytest.raises(BuildFailed, match="address of its own"):
        resolve(read_wanted("bw_sly==1.0"), TARGET)
    assert not mark.exists()


def test_what_cannot_be_had_is_named_by_its_line_with_what_helps(index: Path) -> None:
    make_wheel(index, "bw_one", "1.0", needs=("bw_two>=2",))
    make_wheel(index, "bw_two", "1.0")
    for text, words in {
        "bw_two==1.0\nbw_gone==1.0": "Line 2: bw_gone==1.0: the package index has no package",
        "bw_two==1.0\nbw_one==1.0": "Line 1: bw_two==1.0 does not go with bw_one 1.0, which needs bw_two>=2",
    }.items():
        with pytest.raises(BuildFailed, match=words):
            resolve(read_wanted(text), TARGET)


# What pip says, word by word, and what the index has of the package in whatever form.
SAID = [
    (
        "ERROR: Could not find a version that satisfies the requirement x==9 (from versions: 1.0, 1.1)\n"
        "ERROR: No matching distribution found for x==9",
        ["1.1", "1.0"],
        "Line 2: x==9 does not exist. The newest with a wheel that runs under Python 3.11 here: 1.1, 1.0.",
    ),
    (
        "ERROR: Could not find a version that satisfies the requirement x==9 (from versions: 1.0)\n"
        "ERROR: No matching distribution found for x==9",
        ["9", "1.0"],
        "Line 2: x==9 is published, but without a wheel .* Those that have one: 1.0.",
    ),
    (
        "ERROR: Could not find a version that satisfies the requirement x==9 (from versions: none)\n"
        "ERROR: No matching distribution found for x==9",
        ["9"],
        "Line 2: x==9 is published, but without a wheel .* Choose another package or another Python.",
    ),
    (
        "ERROR: Could not find a version that satisfies the requirement y>=2 (from versions: 1.0)\n"
        "ERROR: No matching distribution found for y>=2",
        ["1.0"],
        "y>=2, needed by x, does not exist. The newest .*: 1.0.",
    ),
    (
        "ERROR: Package 'x' requires a different Python: 3.11.2 not in '>=3.12'",
        [],
        "Line 2: x==9 needs Python >=3.12. Choose another version of it, or another Python.",
    ),
    (
        "WARNING: Retrying after connection broken by 'NewConnectionError(...)': /simple/x/\n"
        "ERROR: Could not find a version that satisfies the requirement x==9 (from versions: none)\n"
        "ERROR: No matching distribution found for x==9",
        [],
        "The package index does not answer.",
    ),
]


@pytest.mark.parametrize(("said", "published", "words"), SAID)
def test_what_pip_says_becomes_a_line_and_a_remedy(
    said: str, published: list[str], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resolving, "_published", lambda *_: published)
    needs = resolving._Needs()
    needs.by["y"].add("x")
    assert re.match(words, resolving._explained(said, read_wanted("# why\nx==9"), needs, TARGET))


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("numpy", "not one exact version"),
        ("numpy>=2", "not one exact version"),
        ("numpy==2.*", "not one exact version"),
        ("numpy===2.0", "not one exact version"),
        ("numpy==2.0,==2.0", "not one exact version"),
        ("numpy @ http://there/x.whl", "has an address"),
        ("numpy==2.0; python_version < '4'", "or a condition"),
        ("--index-url http://there", "names no package"),
        ("-r /etc/passwd", "names no package"),
        ("numpy==2.0 --hash=sha256:0", "names no package"),
        ("numpy==1.0\nNumPy==2.0", "stands in line 2 already"),
        ("n" * 300, "longer than"),
    ],
)
def test_a_line_that_is_no_exact_version_is_refused(line: str, words: str) -> None:
    with pytest.raises(WantedInvalid, match=f"Line [23].*{words}"):
        read_wanted(f"# what this is for\n{line}\n")


def test_the_same_packages_are_the_same_text_however_they_are_written() -> None:
    written = read_wanted("Tornado==6.5\n\nidna == 3.10  # for names\nrequests[socks]==2.32.3\n")
    assert as_text(written) == "idna==3.10\nrequests[socks]==2.32.3\nTornado==6.5\n"
    assert as_text(read_wanted(as_text(written))) == as_text(written)


def test_wheels_fit_the_c_library_of_the_debian() -> None:
    options = " ".join(wheels_for("3.11", "bookworm"))
    assert "manylinux_2_36_" in options
    assert "manylinux_2_37_" not in options
    assert "--python-version 3.11" in options


def test_the_lock_of_another_tool_is_read_with_all_its_hashes() -> None:
    found = read_lock(recipes()["science"].requirements)
    assert {each.name: each.version for each in found}["numpy"] == "2.4.6"
    assert all(each.hashes for each in found)


def test_what_a_suite_offers_is_read_from_what_would_be_installed() -> None:
    said = "Inst python3-minimal (3.11.2-1)\nInst python3 (3.11.2-1+b1 Debian:12.15/oldstable [amd64])\n"
    assert (offered("bookworm", said).python, offered("bookworm", said).package) == ("3.11", "3.11.2-1+b1")
    assert offered("old", "Inst python3 (3.9.2-3 Debian)\n").problem == "Its Python is older than 3.11."
    assert offered("gone", "E: no Release file\n").problem == "E: no Release file"
