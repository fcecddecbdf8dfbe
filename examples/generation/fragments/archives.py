"""FRAGMENTS: read the Python files of a zip or wheel, in memory and bounded; nothing is unpacked, imported or run."""

from __future__ import annotations

import stat
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import BinaryIO

from examples.generation.fragments import licences
from examples.generation.fragments.base import LeftOut, Origin, Reason, SourceFile, SourceRefused

FILE_LIMIT = 1 << 20  # bytes of one file, unpacked
WHOLE_LIMIT = 128 << 20  # bytes of all that is read
RATIO_LIMIT = 100  # unpacked to packed; source code packs about 4 to 1
ENTRIES_LIMIT = 20_000


@dataclass
class Contents:
    """What was read of a source: its Python files by path, its licence, and what could not be read."""

    texts: dict[str, str] = field(default_factory=dict)
    left_out: list[LeftOut] = field(default_factory=list)
    licence: str = ""
    name: str = ""

    def decode(self, path: str, data: bytes) -> None:
        """Keep a Python file, or say why it is left out."""
        if len(data) > FILE_LIMIT:
            said = f"{path} has more than {FILE_LIMIT >> 20} MiB."
            self.left_out.append(LeftOut(Reason.NOT_READ, said, path))
            return
        try:
            self.texts[path] = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            said = f"{path} is not UTF-8: byte {error.start + 1}, line {line}."
            self.left_out.append(LeftOut(Reason.NOT_UTF8, said, path, line=line))

    def files(self, origin: Origin) -> Iterator[SourceFile]:
        """Yield the files, each with the modules of its package beside it."""
        modules = {module_of(path): text for path, text in self.texts.items() if module_of(path)}
        for path, text in sorted(self.texts.items()):
            yield SourceFile(path, text, origin, module=module_of(path), siblings=modules)


def read_archive(stream: BinaryIO, *, file_name: str, licence: str = "") -> Iterator[SourceFile | LeftOut]:
    """Yield the Python files of a zip or wheel, and what could not be read. `licence` is used where it names none.

    Raises SourceRefused for what is no zip, for a bomb, and for too many entries.
    """
    contents = _read(stream)
    told = licence or contents.licence
    name = contents.name or PurePosixPath(file_name).stem
    yield from contents.left_out
    yield from contents.files(Origin(name, told, {"form": "archive", "file": file_name}))


def module_of(path: str) -> str:
    """Return the dotted name of the module in a file, "" where its path cannot be one; a folder `src` is passed over."""
    parts = list(PurePosixPath(path).with_suffix("").parts)
    parts = parts[parts.index("src") + 1 :] if "src" in parts else parts
    parts = parts[:-1] if parts and parts[-1] == "__init__" else parts
    return ".".join(parts) if all(part.isidentifier() for part in parts) else ""


def _read(stream: BinaryIO) -> Contents:
    contents = Contents()
    try:
        with zipfile.ZipFile(stream) as archive:
            entries = archive.infolist()
            if len(entries) > ENTRIES_LIMIT:
                raise SourceRefused(
                    f"The archive has {len(entries)} entries, more than {ENTRIES_LIMIT}. Send the package alone."
                )
            left = WHOLE_LIMIT
            for entry in entries:
                left -= _take(archive, entry, contents, left)
    except SourceRefused:
        raise
    # zipfile says NotImplementedError for a compression it does not know, and ValueError for fields that cannot be.
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError) as error:
        raise SourceRefused(
            f"The archive cannot be read: {error}. Send a .zip or .whl that opens elsewhere."
        ) from error
    return contents


def _take(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, contents: Contents, left: int) -> int:
    """Read one entry where it is wanted, and return how many bytes it had."""
    path = PurePosixPath(entry.filename)
    wanted = path.suffix == ".py" or path.name == "METADATA" or _is_its_licence(path)
    if entry.is_dir() or not wanted:
        return 0
    said = _unsafe(entry, path)
    if said:
        contents.left_out.append(LeftOut(Reason.NOT_READ, said, entry.filename))
        return 0
    if entry.file_size > max(entry.compress_size, 1) * RATIO_LIMIT and entry.file_size > FILE_LIMIT:
        raise SourceRefused(
            f"{entry.filename} unpacks to more than {RATIO_LIMIT} times its size. Send the archive without it."
        )
    with archive.open(entry) as file:
        data = file.read(min(FILE_LIMIT, left) + 1)
    if len(data) > left:
        raise SourceRefused(
            f"The archive holds more than {WHOLE_LIMIT >> 20} MiB of code. Send a part of it."
        )
    _sort(path, data, contents)
    return len(data)


def _is_its_licence(path: PurePosixPath) -> bool:
    """Return whether a file holds the licence of the whole, not of something that lies in it."""
    whole = len(path.parts) <= 2 or path.parts[0].endswith(".dist-info")
    return whole and licences.is_licence_file(path.name)


def _sort(path: PurePosixPath, data: bytes, contents: Contents) -> None:
    if path.suffix == ".py":
        contents.decode(str(path), data)
    elif path.name == "METADATA" and path.parent.name.endswith(".dist-info"):
        told = licences.of_metadata(data.decode(errors="replace"))
        contents.name = f"{told.name} {told.version}".strip()
        contents.licence = told.licence or contents.licence
    elif not contents.licence:
        contents.licence = licences.of_text(data.decode(errors="replace"))


def _unsafe(entry: zipfile.ZipInfo, path: PurePosixPath) -> str:
    """Return what forbids to read an entry, "" where nothing does."""
    name = entry.filename
    if path.is_absolute() or ".." in path.parts or "\\" in name or ":" in path.parts[0]:
        return f"{name} leads out of the archive."
    if stat.S_ISLNK(entry.external_attr >> 16):
        return f"{name} is a symbolic link."
    if entry.flag_bits & 0x1:
        return f"{name} is encrypted."
    return ""
