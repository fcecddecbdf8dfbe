"""Notes the first attempt to use a network, by the interpreter's own audit events. Standard library only.

It is evidence for a check: what a program does in C or in another process goes unseen, and hostile code may lie.
Events: https://docs.python.org/3/library/audit_events.html
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

NAMES = ("socket.getaddrinfo", "socket.gethostbyname")
ADDRESSES = ("socket.connect", "socket.sendto", "socket.sendmsg")
OURSELVES = ("127.", "::1", "localhost", "0.0.0.0", "[::1]")  # noqa: S104 - names to leave out, bound to nothing
SHOWN_CHARS = 200


class NetworkWatch:
    """An audit hook that keeps, and says once, where the program tried to go."""

    def __init__(self, say: Callable[..., None]) -> None:
        self._say = say
        self._first = ""
        self._open = self._said = False

    def __call__(self, event: str, args: tuple[Any, ...]) -> None:
        """Note the event where it reaches beyond this box."""
        if self._first or not (event in NAMES or event in ADDRESSES):
            return
        if event in ADDRESSES and not isinstance(args[1], tuple):
            return  # a path of this box
        try:
            target = beyond(args[0]) if event in NAMES else beyond(*args[1][:2])
        except Exception:
            return
        if target:
            self._first = f"{event.partition('.')[2]} {target}"[:SHOWN_CHARS]
            self._tell()

    def open(self) -> None:
        """Say from now on; rows before the tests came have nobody to read them."""
        self._open = True
        self._tell()

    def _tell(self) -> None:
        if self._open and self._first and not self._said:
            self._said = True
            self._say(network=self._first)


def beyond(host: Any, port: Any = "") -> str:
    """Return a host, or host and port, as text; "" for this box itself and for what is no network address."""
    name = host.decode() if isinstance(host, bytes) else host
    if not isinstance(name, str) or not name or name.startswith(OURSELVES) or port is None:
        return ""
    return f"{name}:{port}" if isinstance(port, int) else name
