"""IMPORT: walk through a file of records, a line or a list item at a time, in flat memory."""

from __future__ import annotations

import codecs
import gzip
import io
import json
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple, cast

from examples.importing.base import Problem

RECORD_LIMIT = 4 << 20  # bytes (characters in a list) of one record
FILE_LIMIT = 2 << 30  # bytes, unpacked
RATIO_LIMIT = (
    200  # unpacked to packed, beyond the first RATIO_FROM bytes; source code in JSON packs about 5 to 1
)
RATIO_FROM = 16 << 20
CHUNK = 64 << 10
GZIP_MAGIC = b"\x1f\x8b"
DECODER = json.JSONDecoder()
BLANK = " \t\r\n"


class Item(NamedTuple):
    """A record's value and its place: the number of the record and the file's line where it begins, from 1."""

    number: int
    line: int
    value: dict[str, Any]


class FileBroken(Exception):
    """The file cannot be read on; what came before stands."""


class Bounded(io.RawIOBase):
    """A stream's bytes, unpacked where it is gzip, up to FILE_LIMIT. Raises FileBroken beyond, and for broken gzip."""

    def __init__(self, stream: BinaryIO, limit: int = FILE_LIMIT) -> None:
        super().__init__()
        head = stream.read(2)
        self.whole = _Joined(head, stream)
        whole = cast(BinaryIO, self.whole)
        self.packed = head == GZIP_MAGIC
        self.source = cast(BinaryIO, gzip.GzipFile(fileobj=whole)) if self.packed else whole
        self.left = limit
        self.limit = limit

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            data = self.source.read(min(len(buffer), CHUNK))
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise FileBroken(f"the gzip data is damaged or cut short ({error})") from error
        self.left -= len(data)
        given = self.limit - self.left
        if self.left < 0:
            raise FileBroken(f"it is longer than {self.limit >> 20} MiB")
        if given > RATIO_FROM and given > RATIO_LIMIT * self.whole.given:
            raise FileBroken(f"it unpacks to more than {RATIO_LIMIT} times its size")
        buffer[: len(data)] = data
        return len(data)


class _Joined(io.RawIOBase):
    """Bytes already read, then the rest of their stream; spares the stream from having to seek."""

    def __init__(self, head: bytes, rest: BinaryIO) -> None:
        super().__init__()
        self.head = head
        self.rest = rest
        self.given = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data, self.head = self.head[: len(buffer)], self.head[len(buffer) :]
        if len(data) < len(buffer):
            data += self.rest.read(len(buffer) - len(data))
        buffer[: len(data)] = data
        self.given += len(data)
        return len(data)


def opened(stream: BinaryIO) -> io.BufferedReader:
    """Return the stream unpacked, bounded and ready to be peeked at. Closing it leaves the stream open."""
    return io.BufferedReader(Bounded(stream), buffer_size=CHUNK)


def json_lines(stream: io.BufferedReader) -> Iterator[Item | Problem]:
    """Yield the objects of a JSON Lines file, and a problem for each line that is none; blank lines are passed over."""
    number = line = 0
    while True:
        raw = stream.readline(RECORD_LIMIT + 1)
        if not raw:
            return
        line += 1
        if not raw.strip():
            continue
        number += 1
        if len(raw) > RECORD_LIMIT and not raw.endswith(b"\n"):
            while (rest := stream.readline(CHUNK)) and not rest.endswith(b"\n"):
                pass
            yield _too_long(number, line)
            continue
        yield _line(raw, number, line)


def _line(raw: bytes, number: int, line: int) -> Item | Problem:
    remedy = "Write one JSON object on each line, as UTF-8."
    try:
        value = json.loads(raw.decode("utf-8-sig" if line == 1 else "utf-8"))
    except UnicodeDecodeError as error:
        return Problem(number, line, "line", f"is not UTF-8 at byte {error.start + 1}", remedy)
    except RecursionError:
        return Problem(number, line, "line", "is nested too deeply", remedy)
    except ValueError as error:
        shown = raw[:40].decode(errors="replace").strip()
        return Problem(number, line, "line", f"is not JSON ({error}): {shown!r}", remedy)
    if not isinstance(value, dict):
        return Problem(number, line, "line", f"is JSON, but not an object: {str(value)[:40]!r}", remedy)
    return Item(number, line, value)


def _too_long(number: int, line: int) -> Problem:
    message = f"is longer than {RECORD_LIMIT >> 20} MiB"
    return Problem(number, line, "record", message, "Take large data out of the record.")


class Window:
    """The part of a text file that is being looked at: `text[at:]` is unread, `line` counts where `at` stands."""

    def __init__(self, stream: io.BufferedReader) -> None:
        self.stream = stream
        self.decoder = codecs.getincrementaldecoder("utf-8-sig")()
        self.text = ""
        self.at = 0
        self.line = 1
        self.ended = False

    def more(self) -> bool:
        """Read on, and return whether there was anything; reads as much again as is unread, so retries stay few."""
        if self.ended:
            return False
        raw = self.stream.read(max(CHUNK, len(self.text) - self.at))
        self.ended = not raw
        try:
            fresh = self.decoder.decode(raw, final=self.ended)
        except UnicodeDecodeError as error:
            raise FileBroken(f"is not UTF-8 ({error.reason}, behind line {self.line})") from error
        self.text = self.text[self.at :] + fresh
        self.at = 0
        return not self.ended

    def advance(self, end: int) -> None:
        """Move on to an index of `text`."""
        self.line += self.text.count("\n", self.at, end)
        self.at = end

    def next_mark(self) -> str:
        """Move on to the next character that is not blank, and return it; "" at the end of the file."""
        while True:
            end = self.at
            while end < len(self.text) and self.text[end] in BLANK:
                end += 1
            self.advance(end)
            if end < len(self.text) or not self.more():
                return self.text[end : end + 1] if end < len(self.text) else ""


def json_list(stream: io.BufferedReader) -> Iterator[Item | Problem]:
    """Yield the objects of a JSON list, and a problem for each item that is none.

    JSON that breaks off or is malformed ends the walk with a problem; the items before it have been yielded.
    """
    window = Window(stream)
    window.next_mark()
    window.advance(window.at + 1)  # the bracket, which detection has seen
    number = 0
    while (mark := window.next_mark()) != "]":
        if number:
            if mark != ",":
                yield _broken(
                    number + 1, window.line, f"expected a comma, found {mark!r}" if mark else "the file ends"
                )
                return
            window.advance(window.at + 1)
            window.next_mark()
        number += 1
        line = window.line
        try:
            value = _next_value(window)
        except (ValueError, RecursionError) as error:
            yield _broken(number, line, str(error))
            return
        yield _item(value, number, line)
    window.advance(window.at + 1)
    if mark := window.next_mark():
        yield _broken(number, window.line, f"{mark!r} follows the end of the list")


def _next_value(window: Window) -> Any:
    """Return the JSON value at hand, reading on as long as it is not whole. Raises ValueError."""
    while True:
        try:
            value, end = DECODER.raw_decode(window.text, window.at)
        except json.JSONDecodeError as error:
            unread = len(window.text) - window.at
            cut_off = error.msg.startswith("Unterminated") or error.pos > len(window.text) - 12
            if cut_off and unread > RECORD_LIMIT:
                raise ValueError(f"a record is longer than {RECORD_LIMIT >> 20} MiB") from error
            if not (cut_off and window.more()):
                raise ValueError(error.msg) from error
        else:
            if end < len(window.text) or isinstance(value, dict) or not window.more():
                window.advance(end)
                return value


def _item(value: Any, number: int, line: int) -> Item | Problem:
    if isinstance(value, dict):
        return Item(number, line, value)
    return Problem(
        number, line, "record", f"is not an object: {str(value)[:40]!r}", "Write each record as an object."
    )


def _broken(number: int, line: int, reason: str) -> Problem:
    remedy = (
        "Mend the JSON there and import again: what is in already is passed over. Nothing behind it was read."
    )
    return Problem(number, line, "record", f"is not JSON: {reason}", remedy)
