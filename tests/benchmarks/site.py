"""A site as `make run` serves it, for a benchmark: parent, web, worker, Redis, in a directory of its own on a free port.

`site()` also gives this process's Django the database of that site, so that a benchmark can make people and studies.
`each_database` runs a module once on what a single machine has embedded and once on Postgres and Redis.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.services import (
    free_port,
    postgres_programs,
    postgres_server,
    redis_program,
    redis_server,
    wait_until,
)

ROOT = Path(__file__).resolve().parents[2]
EMBEDDED = "SQLite and embedded Redis"
REAL = "Postgres and Redis"


@dataclass(frozen=True)
class Site:
    """A running site: its address, its parent process, its directory."""

    port: int
    process: subprocess.Popen[bytes]
    room: Path

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def stores(self) -> str:
        """Return what it keeps its rows and messages in."""
        return REAL if os.environ.get("DATABASE_URL") else EMBEDDED

    def pids_of(self, module: str) -> list[int]:
        """Return the process ids of the parent's children that run this module (`config.web`, `config.work`)."""
        command = ["ps", "-o", "pid=,args=", "--ppid", str(self.process.pid)]
        listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        return [int(line.split()[0]) for line in listed.splitlines() if f"-m {module}" in line]

    def pid_of(self, module: str) -> int:
        """Return the process id of the only child, or the first, that runs this module."""
        return self.pids_of(module)[0]

    def cpu_ms(self, module: str) -> float:
        """Return the milliseconds of processor time that these children have used since their start, in ticks of 10."""
        ticks = 0
        for pid in self.pids_of(module):
            user, system = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
            ticks += int(user) + int(system)
        return ticks * 1000 / os.sysconf("SC_CLK_TCK")


def prepare(room: Path, port: int, **variables: str) -> None:
    """Set up Django in this process for a new site in the directory: database, collected files, the plain image."""
    os.environ |= {
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "DJANGO_ALLOW_ASYNC_UNSAFE": "1",  # Playwright runs an event loop in this thread
        "BENCHWRIGHT_DATA": str(room),
        "SECRET_KEY": "of no use outside the benchmarks",
        "PORT": str(port),
        "SITE_URL": f"http://127.0.0.1:{port}",
        "LOG_LEVEL": "WARNING",
        **variables,
    }
    import django
    from django.core.management import call_command

    from config.assets import collect_if_changed

    django.setup()
    call_command("migrate", verbosity=0, interactive=False, skip_checks=True)
    collect_if_changed()


def build_plain() -> None:
    """Store the plain image; it is built where it is absent."""
    from runner.environments.recipe import recipes
    from runner.provisioning import provision

    provision(recipes()["plain"], progress=lambda line: None)


@contextmanager
def site(*, executes: bool = True, **variables: str) -> Iterator[Site]:
    """Give a new site that answers; where it `executes`, its worker has warm boxes."""
    with tempfile.TemporaryDirectory(prefix="benchwright-bench-", ignore_cleanup_errors=True) as name:
        room, port = Path(name) / "data", free_port()
        Path(name).chmod(0o711)  # served from an unprivileged account, as in production
        room.mkdir()
        prepare(room, port, **variables)
        if executes:
            build_plain()
        process, log = _start(Path(name) / "log")
        try:
            wait_until(lambda: b"ready at" in log.read_bytes(), "the site", process=process, log=log)
            if executes:
                wait_until(_is_warm, "the worker's warm boxes", process=process, log=log)
            yield Site(port, process, room)
        finally:
            _close_connections()
            process.terminate()
            process.wait(60)


def _start(log: Path) -> tuple[subprocess.Popen[bytes], Path]:
    with log.open("wb") as out:
        command = ["setpriv", "--pdeathsig", "TERM", "--", sys.executable, "-m", "config.serve"]
        return subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=out, stderr=out), log


def _is_warm() -> bool:
    """Return whether a worker has said that it has boxes waiting."""
    from runner.models import Worker

    return any(any(worker.facts.get("waiting", {}).values()) for worker in Worker.objects.all())


def _close_connections() -> None:
    from django.db import connections

    connections.close_all()


def session_of(user: object) -> str:
    """Return the key of a new session in which this account is signed in."""
    from django.conf import settings
    from django.test import Client

    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")  # type: ignore[arg-type] # a User
    return str(client.cookies[settings.SESSION_COOKIE_NAME].value)


def each_database(module: str, *arguments: str) -> int:
    """Run the module with the argument `here` on SQLite with embedded Redis, then on Postgres with Redis.

    Returns 1 where one of them failed or could not be had.
    """
    embedded = {name: text for name, text in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")}
    failed = _run(module, arguments, embedded)
    program, programs = redis_program(), postgres_programs()
    if program is None or programs is None:
        print("Postgres and Redis left out: apt-get install postgresql redis-server")
        return 1
    with postgres_server(programs) as database, redis_server(program) as redis:
        failed |= _run(module, arguments, embedded | {"DATABASE_URL": database, "REDIS_URL": redis})
    return failed


def _run(module: str, arguments: tuple[str, ...], environment: dict[str, str]) -> int:
    command = [sys.executable, "-m", module, "here", *arguments]
    return 1 if subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode else 0
