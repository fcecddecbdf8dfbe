"""RESOLVE: from named packages to every package they need, each with one version and the hash of one wheel.

pip is asked for wheels only and never follows a dependency by itself, so that nothing of a package is executed: what
each needs is read from its metadata here, with the conditions (PEP 508) of the Python it is for, not of this process.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, cast
from urllib.parse import unquote, urlsplit

from packaging.markers import default_environment
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from runner.environments.recipe import BuildFailed
from runner.environments.wanted import Wanted
from runner.environments.wheels import refusal_of, wheels_for

ASK_SECONDS = 600
LOOK_UP_SECONDS = 60
ROUNDS = 30
VERSIONS_SHOWN = 5
NEEDED_BY = "needed by "


@dataclass(frozen=True)
class Target:
    """The Python that packages are for: its version in full, and the Debian whose C library it has."""

    python: str
    suite: str
    ca_file: Path | None = None

    @property
    def minor(self) -> str:
        """The version as wheels name it, such as 3.11."""
        return ".".join(self.python.split(".")[:2])

    def holds(self, requirement: Requirement, extras: Iterable[str]) -> bool:
        """Return whether a requirement's condition holds there, for one of the extras or without any."""
        if requirement.marker is None:
            return True
        facts = dict(cast("dict[str, str]", default_environment()))  # a TypedDict of texts only
        facts |= {"python_version": self.minor, "python_full_version": self.python}
        facts |= {"implementation_version": self.python}
        return any(requirement.marker.evaluate({**facts, "extra": extra}) for extra in ("", *extras))


@dataclass(frozen=True)
class Pinned:
    """A package with its version, the hash of its wheel, and the packages that need it (none: it was named)."""

    name: str
    version: str
    sha256: str
    needed_by: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """The line of a hashed requirements file."""
        why = f"  # {NEEDED_BY}{', '.join(self.needed_by)}" if self.needed_by else ""
        return f"{self.name}=={self.version} --hash=sha256:{self.sha256}{why}"


@dataclass(frozen=True)
class _Found:
    """What the index gave for what was asked of a package."""

    pinned: Pinned
    needs: tuple[str, ...]
    asked: frozenset[str]


@dataclass
class _Needs:
    """What is asked of each package: requirement texts, and by whom."""

    asked: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    by: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))


def resolve(wanted: Sequence[Wanted], target: Target) -> tuple[Pinned, ...]:
    """Return the named packages and all they need, by name. Raises BuildFailed with line and remedy.

    Each is the newest version that fits what all others ask of it; where that leads nowhere, no older one is tried, and
    the text says which to name.
    """
    found: dict[str, _Found] = {}
    for _ in range(ROUNDS):
        needs = _needs(wanted, found, target)
        due = [
            name
            for name, asked in needs.asked.items()
            if name not in found or found[name].asked != frozenset(asked)
        ]
        if not due:
            pinned = [found[name].pinned for name in sorted(needs.asked)]
            return tuple(
                Pinned(
                    each.name,
                    each.version,
                    each.sha256,
                    tuple(sorted(needs.by[canonicalize_name(each.name)])),
                )
                for each in pinned
            )
        report = _ask([text for name in due for text in sorted(needs.asked[name])], wanted, needs, target)
        for item in report:
            name = str(canonicalize_name(item["metadata"]["name"]))
            found[name] = _read(item, frozenset(needs.asked[name]))
    raise BuildFailed(
        "What the packages need of each other does not settle. Name a version of each yourself."
    )


def lock(pinned: Iterable[Pinned]) -> str:
    """Return the text of a hashed requirements file."""
    return "".join(f"{each.line}\n" for each in pinned)


class Locked(NamedTuple):
    """A package of a hashed requirements file: the hashes of its files, and the packages that need it."""

    name: str
    version: str
    hashes: list[str]
    needed_by: str


def read_lock(text: str) -> list[Locked]:
    """Return each package of a hashed requirements file, whether `lock` or another tool wrote it."""
    packages = []
    for line in text.replace("\\\n", " ").splitlines():
        said, _, why = line.partition("#")
        found = re.match(r"\s*([A-Za-z0-9._-]+)(?:\[[^\]]*\])?==(\S+)", said)
        if found:
            hashes = re.findall(r"--hash=sha256:([0-9a-f]{64})", said)
            packages.append(Locked(found[1], found[2], hashes, why.strip().removeprefix(NEEDED_BY)))
    return packages


def _needs(wanted: Sequence[Wanted], found: dict[str, _Found], target: Target) -> _Needs:
    """Return what is asked of every package that can be reached from the named ones by what is found so far."""
    needs = _Needs()
    extras: defaultdict[str, set[str]] = defaultdict(set)
    for each in wanted:
        needs.asked[each.key].add(each.text)
        extras[each.key] |= set(each.extras)
    walk = [each.key for each in wanted]
    seen: set[tuple[str, frozenset[str]]] = set()
    while walk:
        name = walk.pop()
        state = (name, frozenset(extras[name]))
        if state in seen or name not in found:
            continue
        seen.add(state)
        giver = found[name].pinned
        for text in found[name].needs:
            requirement = _requirement(text, giver)
            if not target.holds(requirement, extras[name]):
                continue
            if requirement.url:
                raise BuildFailed(
                    f"{giver.name} {giver.version} needs {requirement.name} from an address of its own, which is "
                    "never installed. Name another package or version."
                )
            key = str(canonicalize_name(requirement.name))
            _refuse_clash(wanted, key, requirement, giver)
            needs.asked[key].add(f"{requirement.name}{requirement.specifier}")
            needs.by[key].add(giver.name)
            extras[key] |= requirement.extras
            walk.append(key)
    for each in wanted:
        needs.by.pop(each.key, None)
    return needs


def _requirement(text: str, giver: Pinned) -> Requirement:
    try:
        return Requirement(text)
    except InvalidRequirement as error:
        raise BuildFailed(
            f"{giver.name} {giver.version} says what it needs in a way that nobody can read ({error}). "
            "Name another version of it."
        ) from error


def _refuse_clash(wanted: Sequence[Wanted], key: str, requirement: Requirement, giver: Pinned) -> None:
    """Raise BuildFailed where a named version is not what another package needs."""
    for each in wanted:
        if each.key == key and not requirement.specifier.contains(each.version, prereleases=True):
            raise BuildFailed(
                f"Line {each.line}: {each.text} does not go with {giver.name} {giver.version}, which needs "
                f"{requirement.name}{requirement.specifier}. Name versions that go together."
            )


def _read(item: dict[str, Any], asked: frozenset[str]) -> _Found:
    """Return what an item of pip's report says (https://pip.pypa.io/en/stable/reference/installation-report/)."""
    metadata = item["metadata"]
    sha256 = _hash_of(item["download_info"])
    if not sha256:
        raise BuildFailed(f"The package index gives no hash for {metadata['name']}. Use one that does.")
    pinned = Pinned(str(metadata["name"]), str(metadata["version"]), sha256)
    return _Found(pinned, tuple(metadata.get("requires_dist") or ()), asked)


def _hash_of(download: dict[str, Any]) -> str:
    """Return the SHA-256 that the index states; that of the file itself where the index is a folder of this host."""
    if stated := download.get("archive_info", {}).get("hashes", {}).get("sha256"):
        return str(stated)
    address = urlsplit(str(download["url"]))
    if address.scheme != "file":
        return ""
    return hashlib.sha256(Path(unquote(address.path)).read_bytes()).hexdigest()


def _ask(
    lines: Sequence[str], wanted: Sequence[Wanted], needs: _Needs, target: Target
) -> list[dict[str, Any]]:
    """Return the items of pip's report on these requirements, what they need left out. Raises BuildFailed."""
    with tempfile.TemporaryDirectory() as folder:
        listing, report = Path(folder) / "requirements.txt", Path(folder) / "report.json"
        listing.write_text("".join(f"{line}\n" for line in lines))
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        command += ["--dry-run", "--ignore-installed", "--no-deps", "--target", str(Path(folder) / "nowhere")]
        command += ["--report", str(report), *wheels_for(target.minor, target.suite), *_authority(target)]
        try:
            done = subprocess.run(
                [*command, "--requirement", str(listing)],
                capture_output=True,
                text=True,
                timeout=ASK_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise BuildFailed(f"The package index was too slow ({ASK_SECONDS} s). Try again later.") from None
        if done.returncode:
            raise BuildFailed(_explained(done.stderr, wanted, needs, target))
        items: list[dict[str, Any]] = json.loads(report.read_text())["install"]
        return items


def _explained(said: str, wanted: Sequence[Wanted], needs: _Needs, target: Target) -> str:
    """Return what pip's refusal means: the line, what is wrong with it, and what helps."""
    if trouble := refusal_of(said):
        return trouble
    other = re.search(r"Package '([^']+)' requires a different Python: \S+ not in '([^']*)'", said)
    if other is not None:
        who = next((f"Line {each.line}: {each.text}" for each in wanted if each.key == other[1]), other[1])
        return f"{who} needs Python {other[2]}. Choose another version of it, or another Python."
    missing = re.search(r"No matching distribution found for ([A-Za-z0-9._-]+)(\S*)", said)
    if missing is None:
        clash = re.search(r"Cannot install (.*) because", said)
        if clash:
            return f"{clash[1]} do not go together. Name a version of that package which suits all."
        errors = [line for line in said.splitlines() if line.startswith("ERROR")]
        return "\n".join(errors)[-1200:] or f"pip gave up:\n{said.strip()[-1200:]}"
    name = missing[1]
    key = str(canonicalize_name(name))
    line = next((each for each in wanted if each.key == key), None)
    asked = line.text if line else f"{name}{missing[2]}"
    who = f"Line {line.line}: {asked}" if line else f"{asked}, needed by {', '.join(sorted(needs.by[key]))},"
    fit = re.search(r"\(from versions: ([^)]*)\)", said)
    fitting = [each for each in (fit[1] if fit else "").split(", ") if each not in ("", "none")]
    published = _published(name, target)
    wheel = f"a wheel that runs under Python {target.minor} here"
    newest = ", ".join(reversed(fitting[-VERSIONS_SHOWN:]))
    if line and line.version in published:
        others = f"Those that have one: {newest}." if fitting else "Choose another package or another Python."
        return f"{who} is published, but without {wheel}, and nothing else is installed. {others}"
    if fitting:
        return f"{who} does not exist. The newest with {wheel}: {newest}."
    if published:
        newest = ", ".join(published[:VERSIONS_SHOWN])
        return f"{who} does not exist with {wheel}. Published are {newest}; choose another package or Python."
    return f"{who}: the package index has no package {name}. Look at how it is spelt there."


def _published(name: str, target: Target) -> list[str]:
    """Return the versions that the index has in whatever form, newest first; [] where it has none."""
    command = [sys.executable, "-m", "pip", "index", "versions", "--ignore-requires-python"]
    command += ["--disable-pip-version-check"]
    try:
        done = subprocess.run(
            [*command, *_authority(target), name],
            capture_output=True,
            text=True,
            timeout=LOOK_UP_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return []
    listed = re.search(r"Available versions: (.*)", done.stdout)
    return listed[1].split(", ") if listed else []


def _authority(target: Target) -> list[str]:
    return ["--cert", str(target.ca_file)] if target.ca_file else []
