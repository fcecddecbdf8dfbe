"""The frames of a page's websocket, each with the moment it arrived."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

WAIT_SECONDS = 60


class Frame(NamedTuple):
    """A text frame and the moment of `time.perf_counter()` at which it was there."""

    at: float
    text: str


class Frames:
    """Reads a websocket in a thread of its own, so that a frame's moment does not depend on who waits for it."""

    def __init__(self, port: int, path: str, cookie: str) -> None:
        headers = {"Cookie": cookie, "Origin": f"http://127.0.0.1:{port}"}
        self.socket = connect(f"ws://127.0.0.1:{port}{path}", additional_headers=headers, max_size=None)
        self.frames: SimpleQueue[Frame] = SimpleQueue()
        self.reader = threading.Thread(target=self._read, daemon=True)

    def __enter__(self) -> Frames:
        self.reader.start()
        self.wait_for(bool)
        return self

    def __exit__(self, *_: Any) -> None:
        self.socket.close()
        self.reader.join(WAIT_SECONDS)

    def _read(self) -> None:
        try:
            for text in self.socket:
                self.frames.put(Frame(time.perf_counter(), str(text)))
        except ConnectionClosed:
            return

    def forget(self) -> None:
        """Drop what has arrived so far."""
        while not self.frames.empty():
            self.frames.get_nowait()

    def wait_for(self, holds: Callable[[str], object]) -> float:
        """Return the moment at which the first frame arrived for which `holds(text)`. Raises TimeoutError."""
        end = time.monotonic() + WAIT_SECONDS
        while (left := end - time.monotonic()) > 0:
            try:
                frame = self.frames.get(timeout=left)
            except Empty:
                break
            if holds(frame.text):
                return frame.at
        raise TimeoutError("The frame that was waited for did not come.")
