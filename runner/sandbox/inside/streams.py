"""The streams of a box: what the program prints, the rows of its tests, and the frames to and from the host."""

from __future__ import annotations

import json
import os
from _blake2 import blake2s  # what hashlib names so, without OpenSSL, which takes a tenth of a box's start
from typing import Any

ROW_BYTES = 8192
ROW_STREAM_BYTES = 8 << 20
ROW_STREAM_LINES = 100_000  # a row brings two line ends, and the host keeps 20,000 rows
CHUNK = 1 << 16
TAG_BYTES = 32

Facts = dict[str, Any]


def tag_of(key: bytes, payload: bytes) -> bytes:
    """Return the proof that a row was written by the holder of the key."""
    return blake2s(payload, key=key, digest_size=16).hexdigest().encode()


class Capture:
    """The head and the tail of one output stream; the middle is counted and forgotten."""

    def __init__(self, keep: int) -> None:
        self.half = keep // 2
        self.head = bytearray()
        self.tail = bytearray()
        self.total = 0
        self.keeping = keep > 0

    def feed(self, data: bytes) -> None:
        self.total += len(data)
        if not self.keeping:
            return
        room = self.half - len(self.head)
        self.head += data[: max(room, 0)]
        self.tail += data[max(room, 0) :]
        del self.tail[: max(len(self.tail) - self.half, 0)]

    def text(self) -> str:
        """Return what was kept, with a line in the middle that says how much was not."""
        lost = self.total - len(self.head) - len(self.tail) if self.head or self.tail else 0
        gap = f"\n[... {lost} bytes not kept ...]\n".encode() if lost and self.keeping else b""
        return (bytes(self.head) + gap + bytes(self.tail)).decode("utf-8", "replace")


class Rows:
    """The row pipe: lines of tag, space, JSON. What is malformed, forged, repeated or too much is ignored."""

    def __init__(self) -> None:
        self.key = os.urandom(32)
        self.buffer = bytearray()
        self.total = self.lines = 0
        self.last = 0

    def renew(self) -> bytes:
        """Return a fresh nonce; rows under the old key no longer count."""
        self.key = os.urandom(32)
        self.last = 0
        return self.key

    def feed(self, data: bytes) -> list[Facts]:
        """Return the authentic rows that end in this piece of the stream, however long it is."""
        pieces = [data[start : start + CHUNK] for start in range(0, len(data), CHUNK)]
        return [row for piece in pieces for row in self._rows(piece)]

    def _rows(self, data: bytes) -> list[Facts]:
        self.total += len(data)
        self.lines += data.count(b"\n")
        if self.total > ROW_STREAM_BYTES or self.lines > ROW_STREAM_LINES:
            return []
        self.buffer += data
        *lines, rest = self.buffer.split(b"\n")
        self.buffer = rest if len(rest) <= ROW_BYTES else bytearray()
        # What cannot be a row costs no hashing: a flood would buy our time with hardly any of its own.
        likely = [line for line in lines if TAG_BYTES + 1 < len(line) <= ROW_BYTES]
        return [row for row in map(self._row, likely) if row is not None]

    def _row(self, line: bytearray) -> Facts | None:
        tag, _, payload = bytes(line).partition(b" ")
        if len(tag) != TAG_BYTES or tag != tag_of(self.key, payload):
            return None
        try:
            row: Facts = json.loads(payload)
            fresh = isinstance(row["seq"], int) and row["seq"] > self.last and _is_flat(row)
        except (ValueError, KeyError, TypeError, RecursionError):
            return None
        if not fresh:
            return None
        self.last = row["seq"]
        return row


def _is_flat(row: Facts) -> bool:
    """Return whether nothing in the row is nested: the host's reader is not as deep as ours may be."""
    for value in row.values():
        inside = value if isinstance(value, list) else [value]
        if any(isinstance(item, (list, dict)) for item in inside):
            return False
    return True


class Host:
    """The attached streams: framed JSON out, frames in."""

    def framed(self, kind: str, **facts: Any) -> bytes:
        """Return a frame as the host reads it."""
        body = json.dumps({"kind": kind, **facts}).encode()
        return len(body).to_bytes(4, "big") + body

    def say(self, kind: str, **facts: Any) -> None:
        data = memoryview(self.framed(kind, **facts))
        while data:
            data = data[os.write(1, data) :]

    def length(self) -> int:
        """Return the length of the next frame; leave at once when the host is gone."""
        return int.from_bytes(self._exactly(4), "big")

    def hear(self) -> Facts:
        heard: Facts = json.loads(self._exactly(self.length()))
        return heard

    def _exactly(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            piece = os.read(0, min(count - len(data), CHUNK))
            if not piece:
                os._exit(0)
            data += piece
        return data


class Pump:
    """Carries the tests from the host to the child, after a nonce of ours, without keeping a byte of them."""

    def __init__(
        self, sink: int, length: int, nonce: bytes = b"", *, buffer: bytearray | None = None
    ) -> None:
        self.sink = sink
        self.left = length
        self.buffer = bytearray(CHUNK) if buffer is None else buffer
        self.buffer[: len(nonce)] = nonce
        self.start, self.end = 0, len(nonce)

    @property
    def waits_for(self) -> int:
        """Return the descriptor that must be ready before the next step."""
        return self.sink if self.start < self.end else 0

    def step(self) -> bool:
        """Move one piece; return whether all is delivered."""
        view = memoryview(self.buffer)
        if self.start == self.end:
            self.start, self.end = 0, os.readv(0, [view[: min(self.left, CHUNK)]])
            self.left -= self.end
            if not self.end:
                os._exit(0)
        try:
            self.start += os.write(self.sink, view[self.start : self.end])
        except BlockingIOError:
            return False
        except BrokenPipeError:
            self.start = self.end
        if self.start == self.end:
            view[: self.end] = bytes(
                self.end
            )  # no more than was used: a page that is not touched need not be copied
        return self.start == self.end and not self.left
