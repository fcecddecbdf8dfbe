"""The attached streams of a box: frames out, frames in, each with a deadline."""

from __future__ import annotations

import json
import select
import socket
import time
from contextlib import suppress
from typing import Any

from runner.sandbox.base import SandboxUnavailable

FRAME_BYTES = 4 << 20
CHUNK = 1 << 16
COMPLAINT_BYTES = 4096
STDOUT, STDERR = 1, 2
BOX_ENDED = "The box ended before its job did."

Frame = dict[str, Any]


class StreamTimeout(Exception):
    """Nothing complete came from the box before the deadline."""


class BoxStream:
    """Speaks the supervisor's frames over the engine's multiplexed attach stream (8-byte headers).

    A frame is a JSON object, or one byte for its kind and raw bytes: {"kind": ..., "data": ...}.
    """

    def __init__(self, connection: socket.socket, *, kept: object = None) -> None:
        """Speak over the connection. `kept` is what would close it, should the garbage collector take it."""
        self._socket, self._kept = connection, kept
        self._raw = bytearray()
        self._out = bytearray()
        self._complaint = bytearray()

    def send(self, data: bytes, *, timeout: float) -> None:
        """Send one frame. Raises SandboxUnavailable when the box or the engine is gone."""
        try:
            self._socket.settimeout(timeout)
            self._socket.sendall(len(data).to_bytes(4, "big") + data)
        except OSError as error:
            raise SandboxUnavailable(f"The box does not take its input: {error}.") from error

    def receive(self, *, until: float) -> Frame:
        """Return the next frame. Raises StreamTimeout at the deadline (monotonic), SandboxUnavailable at the end."""
        while True:
            frame = self._complete()
            if frame is not None:
                return frame
            self._more(until)

    def exchange(self, outgoing: bytearray, *, until: float) -> Frame:
        """Send what is outgoing, as far as the box takes it, until its next frame is here, which is returned.

        What was sent is removed from `outgoing`. Raises StreamTimeout and SandboxUnavailable as `receive` does. With
        plain sends two that write to each other at once could wait for each other.
        """
        while True:
            frame = self._complete()
            if frame is not None:
                return frame
            left = until - time.monotonic()
            if left <= 0:
                raise StreamTimeout
            sinks = [self._socket] if outgoing else []
            readable, writable, _ = select.select([self._socket], sinks, [], left)
            if writable:
                self._send_some(outgoing)
            if readable:
                self._more(until)

    def _send_some(self, outgoing: bytearray) -> None:
        try:
            self._socket.settimeout(0)
            del outgoing[: self._socket.send(memoryview(outgoing)[:CHUNK].tobytes())]
        except BlockingIOError:
            return
        except OSError as error:
            raise SandboxUnavailable(f"The box does not take its input: {error}.") from error

    def is_quiet(self) -> bool:
        """Return whether the other end is there and has nothing to say, as it should be for a waiting box."""
        return not select.select([self._socket], [], [], 0)[0]

    def close(self) -> None:
        """Close our end; the box sees the end of its input and leaves."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def _complete(self) -> Frame | None:
        """Return a frame when all of it is here."""
        if len(self._out) < 4:
            return None
        length = int.from_bytes(self._out[:4], "big")
        if length > FRAME_BYTES:
            raise SandboxUnavailable("The box sent a frame that is too long.")
        if len(self._out) < 4 + length:
            return None
        body = bytes(self._out[4 : 4 + length])
        del self._out[: 4 + length]
        if not body.startswith(b"{"):
            return {"kind": body[:1].decode("latin-1"), "data": body[1:]}
        frame: Frame = json.loads(body)
        return frame

    def _more(self, until: float) -> None:
        left = until - time.monotonic()
        if left <= 0:
            raise StreamTimeout
        try:
            self._socket.settimeout(left)
            data = self._socket.recv(1 << 16)
        except TimeoutError:
            raise StreamTimeout from None
        except OSError as error:
            raise SandboxUnavailable(f"The connection to the box broke: {error}.") from error
        if not data:
            complaint = self._complaint.decode("utf-8", "replace").strip().splitlines()
            said = f" Its last words: {complaint[-1]}" if complaint else ""
            raise SandboxUnavailable(f"{BOX_ENDED}{said}")
        self._raw += data
        self._demultiplex()

    def _demultiplex(self) -> None:
        start = 0
        while len(self._raw) - start >= 8:
            length = int.from_bytes(self._raw[start + 4 : start + 8], "big")
            end = start + 8 + length
            if len(self._raw) < end:
                break
            piece = self._raw[start + 8 : end]
            if self._raw[start] == STDOUT:
                self._out += piece
            elif len(self._complaint) < COMPLAINT_BYTES:
                self._complaint += piece
            start = end
        del self._raw[:start]
