"""`make run`: parent of web, worker and the embedded Redis-protocol server. `python -m config.serve`.

HOST and PORT say where it serves, WEB_PROCESSES how many web processes take turns at it. Started as root, everything but the worker runs under the account BENCHWRIGHT_USER
(default `benchwright`, made where absent): only the worker reaches the Docker socket, which is root on the host.
"""

from __future__ import annotations

import http.client
import os
import signal
import socket
import sys
import threading
from typing import IO

from config import embedded, locks, settings
from config.children import Child
from config.privileges import Account, web_account

LOOK_SECONDS = 0.2
READY_LOOKS = 450
ANSWER_SECONDS = 5


class Refused(Exception):
    """The site cannot start; the text says what to do."""


def main() -> int:
    """Serve until SIGTERM or SIGINT and return the process's exit status."""
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    children: list[Child] = []
    try:
        with _only_one(), _listen() as listening:
            account = web_account(settings.DATA_DIR, clone=settings.BASE_DIR)
            _start_redis(children, account)
            _start_site(children, account, listening)
            _say_when_ready(children, listening, ended)
            while not ended.wait(LOOK_SECONDS):
                for child in children:
                    child.restart_if_dead()
    except Refused as refused:
        print(f"benchwright: {refused}", file=sys.stderr)
        return 1
    finally:
        # The worker first: it puts what runs back into the queue and says so through the server that ends last.
        for child in reversed(children):
            child.end()
    return 0


def _only_one() -> IO[bytes]:
    """Return the data directory's lock. Raises Refused when another site holds it."""
    settings.DATA_DIR.mkdir(parents=True, exist_ok=True)
    lock = locks.take(settings.DATA_DIR / "serve.lock")
    if lock is None:
        raise Refused(f"A site runs on {settings.DATA_DIR} already. Stop it first.")
    return lock


def _listen() -> socket.socket:
    """Return the listening socket: opened here, so that a restart of the web process refuses nobody. Raises Refused."""
    host, port = os.environ.get("HOST", "127.0.0.1"), os.environ.get("PORT", "8000")
    try:
        return socket.create_server(
            (host, int(port)), family=socket.AF_INET6 if ":" in host else socket.AF_INET, backlog=2048
        )
    except (OSError, ValueError) as error:
        raise Refused(f"Cannot serve on {host}:{port} ({error}). Choose another by HOST and PORT.") from None


def _start_redis(children: list[Child], account: Account | None) -> None:
    """Start the embedded server unless REDIS_URL points elsewhere, and wait until it answers. Raises Refused."""
    if os.environ.get("REDIS_URL"):
        return
    path = settings.REDIS_SOCKET
    if len(str(path)) > embedded.LONGEST_SOCKET_PATH:
        raise Refused(f"{path} is too long a name for a socket. Set BENCHWRIGHT_DATA to a shorter directory.")
    command = embedded.server_command(path)
    if account:
        os.chown(path.parent / "redis", account.uid, account.gid)
    server = Child("the embedded Redis server", command, _environment(), account)
    children.append(server)
    server.start()
    if embedded.wait_until_up(path):
        return
    server.end()
    print(f"benchwright: the queues of before were set aside in {embedded.set_aside(path)}.", flush=True)
    server.command = embedded.server_command(path)
    if account:
        os.chown(path.parent / "redis", account.uid, account.gid)
    server.start()
    if not embedded.wait_until_up(path):
        raise Refused(
            f"{command[0]} does not come up; see {path.parent}/redis/server.log, or set REDIS_URL to another."
        )


def _start_site(children: list[Child], account: Account | None, listening: socket.socket) -> None:
    """Start the web processes, which share the socket, and the worker."""
    without_engine = {name: value for name, value in _environment().items() if name != "DOCKER_HOST"}
    descriptor = listening.fileno()
    web = [sys.executable, "-m", "config.web", str(descriptor)]
    worker = [sys.executable, "-m", "config.work"]
    site = [
        Child(f"web {number}", web, without_engine, account, handed=[descriptor])
        for number in range(1, settings.WEB_PROCESSES + 1)
    ]
    site.append(Child("worker", worker, _environment(), patience_seconds=30))
    children += site
    for child in site:
        child.start()


def _environment() -> dict[str, str]:
    """Return the environment of the children: ours, and Python's output at once."""
    return {**os.environ, "PYTHONUNBUFFERED": "1", "BENCHWRIGHT_DATA": str(settings.DATA_DIR)}


def _say_when_ready(children: list[Child], listening: socket.socket, ended: threading.Event) -> None:
    """Print one line when the first answer comes; what does not come up is left to the restarts."""
    host, port = listening.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "localhost"}.get(host, host)  # noqa: S104 - compared, not bound
    for _ in range(READY_LOOKS):
        if ended.wait(LOOK_SECONDS):
            return
        for child in children:
            child.restart_if_dead()
        if _answers(host, port):
            pids = ", ".join(f"{child.name} {child.process.pid}" for child in children if child.process)
            print(f"benchwright: ready at http://{host}:{port}/ ({pids}).", flush=True)
            return


def _answers(host: str, port: int) -> bool:
    """Return whether the web process gives any HTTP answer."""
    client = http.client.HTTPConnection(host, port, timeout=ANSWER_SECONDS)
    try:
        client.request(
            "GET", "/healthz", headers={"Host": settings.ALLOWED_HOSTS[0].lstrip(".*") or "localhost"}
        )
        return client.getresponse().status > 0
    except (OSError, http.client.HTTPException):
        return False
    finally:
        client.close()


if __name__ == "__main__":
    sys.exit(main())
