"""Notes the first attempt to use a network, by the interpreter's own audit events. Standard library only.

It is evidence for a check: what a program does in C or in another process goes unseen, and hostile code may lie.
Events: https://docs.python.org/3/library/audit_events.html
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

INTERNET = (2, 10)  # AF_INET, AF_INET6 on Linux
OURSELVES = ("127.", "::1", "localhost", "0.0.0.0", "[::1]")  # noqa: S104 - names to leave out, bound to nothing
SHOWN_CHARS = 200


class NetworkWatch:
    """An audit hook that says where the program tried to go: the first address or name, until then the first socket.

    A socket is worth saying, because `connect` on a name that cannot be resolved raises no event of its own.
    """

    def __init__(self, say: Callable[..., None]) -> None:
        self._say = say
        self._noted = ""
        self._exact = self._open = False

    def __call__(self, event: str, args: tuple[Any, ...]) -> None:
        """Note the event where it reaches beyond this box."""
        if self._exact or event not in EVENTS:
            return
        try:
            noted, exact = EVENTS[event](args)
        except Exception:
            return
        if noted and (exact or not self._noted):
            self._noted, self._exact = noted[:SHOWN_CHARS], exact
            self._tell()

    def open(self) -> None:
        """Say from now on; rows before the tests came have nobody to read them."""
        self._open = True
        self._tell()

    def _tell(self) -> None:
        if self._open and self._noted:
            self._say(network=self._noted)


def made(args: tuple[Any, ...]) -> tuple[str, bool]:
    """Return the note of a new socket, where it is one of the internet."""
    return ("an internet socket" if args[1] in INTERNET else ""), False


def named(args: tuple[Any, ...]) -> tuple[str, bool]:
    """Return the note of a name that was looked up."""
    name = beyond(args[0])
    return (f"the name {name}" if name else ""), True


def reached(args: tuple[Any, ...]) -> tuple[str, bool]:
    """Return the note of an address that was reached for; a path of this box is none."""
    address = beyond(*args[1][:2]) if isinstance(args[1], tuple) else ""
    return (f"the address {address}" if address else ""), True


def beyond(host: Any, port: Any = "") -> str:
    """Return a host, or host and port, as text; "" for this box itself and for what is no network address."""
    name = host.decode() if isinstance(host, bytes) else host
    if not isinstance(name, str) or not name or name.startswith(OURSELVES) or port is None:
        return ""
    return f"{name}:{port}" if isinstance(port, int) else name


EVENTS: dict[str, Callable[[tuple[Any, ...]], tuple[str, bool]]] = {
    "socket.__new__": made,
    "socket.getaddrinfo": named,
    "socket.gethostbyname": named,
    "socket.connect": reached,
    "socket.sendto": reached,
    "socket.sendmsg": reached,
}
