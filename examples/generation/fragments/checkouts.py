"""FRAGMENTS: read the Python files of a folder, such as a git checkout; git itself is not run, no link is followed."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from examples.generation.fragments import licences
from examples.generation.fragments.archives import FILE_LIMIT, WHOLE_LIMIT, Contents
from examples.generation.fragments.base import LeftOut, Origin, Reason, SourceFile, SourceRefused

PASSED_OVER = {"node_modules", "__pycache__", "site-packages", "venv", "env", "build", "dist"}
FILES_LIMIT = 20_000
COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


def read_checkout(folder: Path, *, licence: str = "", repository: str = "") -> Iterator[SourceFile | LeftOut]:
    """Yield the Python files below a folder, and what could not be read. `licence` is used where it names none.

    Raises SourceRefused where there is no such folder, or too much in it.
    """
    if not folder.is_dir():
        raise SourceRefused(f"{folder} is no folder. Name the top folder of a checkout.")
    contents = Contents()
    left = WHOLE_LIMIT
    for files, path in enumerate(_python_files(folder, contents), start=1):
        data = _read(path)
        left -= len(data)
        if files > FILES_LIMIT or left < 0:
            raise SourceRefused(
                f"{folder} holds more than {FILES_LIMIT} files or {WHOLE_LIMIT >> 20} MiB of code. Name a part of it."
            )
        contents.decode(path.relative_to(folder).as_posix(), data)
    told = licence or _licence(folder)
    facts = {"form": "checkout", "commit": commit_of(folder)}
    yield from contents.left_out
    yield from contents.files(Origin(repository or folder.resolve().name, told, facts))


def commit_of(folder: Path) -> str:
    """Return the commit that a checkout stands at, read from .git as text; "" where it cannot be told."""
    git = folder / ".git"
    head = _line(git / "HEAD")
    if COMMIT.fullmatch(head):
        return head
    reference = head.removeprefix("ref: ")
    if reference == head or not reference.startswith("refs/") or ".." in reference.split("/"):
        return ""
    at = _line(git / reference)
    if COMMIT.fullmatch(at):
        return at
    packed = [
        line.partition(" ") for line in _read(git / "packed-refs").decode(errors="replace").splitlines()
    ]
    return next((sha for sha, _, name in packed if name == reference and COMMIT.fullmatch(sha)), "")


def _python_files(folder: Path, contents: Contents) -> Iterator[Path]:
    for at, folders, names in os.walk(folder, followlinks=False):
        folders[:] = sorted(each for each in folders if not each.startswith(".") and each not in PASSED_OVER)
        for name in sorted(names):
            path = Path(at, name)
            if path.suffix != ".py":
                continue
            if path.is_symlink():
                shown = path.relative_to(folder).as_posix()
                contents.left_out.append(LeftOut(Reason.NOT_READ, f"{shown} is a symbolic link.", shown))
            elif path.is_file():
                yield path


def _read(path: Path) -> bytes:
    """Return at most a file's first bytes, never through a link; nothing where it cannot be read."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return b""
    with os.fdopen(handle, "rb") as file:
        try:
            return file.read(FILE_LIMIT + 1)
        except OSError:
            return b""


def _line(path: Path) -> str:
    return _read(path).decode(errors="replace").partition("\n")[0].strip()


def _licence(folder: Path) -> str:
    for path in sorted(folder.iterdir()):
        found = (
            licences.of_text(_read(path).decode(errors="replace"))
            if licences.is_licence_file(path.name)
            else ""
        )
        if found:
            return found
    return licences.of_project(_read(folder / "pyproject.toml").decode(errors="replace"))
