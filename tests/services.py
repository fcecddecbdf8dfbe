"""Real servers for tests: a Postgres cluster and a Redis, each on a free port and in a directory of its own.

Fixtures (conftest.py makes them known everywhere):

postgres_url      an empty database in a cluster that lives as long as the test session
redis_url         a Redis that lives as long as the test session
either_database   runs the test twice, on SQLite and on Postgres; name it first among a test's arguments
"""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.migrated import fill_postgres

STARTS_WITHIN_SECONDS = 60


def free_port() -> int:
    """Return a TCP port of 127.0.0.1 that nobody listens on just now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def listens(port: int) -> bool:
    """Return whether somebody answers on the port of 127.0.0.1."""
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def wait_until(
    holds: Callable[[], bool],
    what: str,
    *,
    process: subprocess.Popen[Any] | None = None,
    log: Path | None = None,
) -> None:
    """Return as soon as `holds()`; raise RuntimeError with the log's end when the process dies or a minute is over."""
    end = time.monotonic() + STARTS_WITHIN_SECONDS
    while time.monotonic() < end:
        if holds():
            return
        if process is not None and process.poll() is not None:
            break
        time.sleep(0.05)
    said = log.read_text(errors="replace")[-2000:] if log and log.exists() else ""
    raise RuntimeError(f"{what} did not come up. {said}")


def postgres_programs() -> Path | None:
    """Return the directory with initdb and postgres, the newest where there are several; None when not installed."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    if found:
        return found[-1].parent
    on_path = shutil.which("initdb")
    return Path(on_path).resolve().parent if on_path else None


def redis_program() -> list[str] | None:
    """Return the command of a Redis-protocol server, None when there is none."""
    for name in ("redis-server", "valkey-server"):
        if found := shutil.which(name):
            return [found]
    return None


def _as_owner(owner: str | None) -> list[str]:
    """Return the words before a server's command: it ends with the tests whatever happens, and runs as `owner`."""
    words = ["setpriv", "--pdeathsig", "INT"]
    if owner:
        words += ["--reuid", owner, "--regid", str(pwd.getpwnam(owner).pw_gid), "--init-groups"]
    return [*words, "--"]


@contextmanager
def _served(command: list[str], port: int, log: Path) -> Iterator[None]:
    """Run a server until the block ends, entered once it listens."""
    with log.open("wb") as out:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, cwd="/")
    try:
        wait_until(lambda: listens(port), Path(command[-1]).name, process=process, log=log)
        yield
    finally:
        process.send_signal(2)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextmanager
def postgres_server(programs: Path) -> Iterator[str]:
    """Give the URL of the empty database `benchwright` in a new cluster, which is gone when the block ends.

    Postgres refuses to run as root, so root runs it as Debian's account `postgres`.
    """
    owner = "postgres" if os.geteuid() == 0 else None
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="benchwright-postgres-", ignore_cleanup_errors=True) as room:
        if owner:
            shutil.chown(room, owner)
        data, as_owner = f"{room}/data", _as_owner(owner)
        init = [str(programs / "initdb"), "-D", data, "-U", "bench", "-A", "trust", "-E", "UTF8", "--no-sync"]
        subprocess.run([*as_owner, *init], check=True, capture_output=True, cwd="/")
        settings = [
            "fsync=off",
            "synchronous_commit=off",
            f"unix_socket_directories={room}",
            "max_connections=200",
        ]
        command = [*as_owner, str(programs / "postgres"), "-D", data, "-h", "127.0.0.1", "-p", str(port)]
        with _served(command + [word for one in settings for word in ("-c", one)], port, Path(room) / "log"):
            _create_database(port)
            yield f"postgres://bench@127.0.0.1:{port}/benchwright"


def _create_database(port: int) -> None:
    """Create the database, waiting while the cluster is still starting up."""
    import psycopg

    for _ in range(200):
        try:
            with psycopg.connect(
                f"postgres://bench@127.0.0.1:{port}/postgres", autocommit=True
            ) as connection:
                connection.execute("CREATE DATABASE benchwright")
            return
        except psycopg.OperationalError:
            time.sleep(0.1)
    raise RuntimeError("Postgres listens but lets nobody in.")


@contextmanager
def redis_server(program: list[str]) -> Iterator[str]:
    """Give the URL of a Redis that keeps nothing and is gone when the block ends."""
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="benchwright-redis-", ignore_cleanup_errors=True) as room:
        settings = [
            "--port",
            str(port),
            "--bind",
            "127.0.0.1",
            "--save",
            "",
            "--appendonly",
            "no",
            "--dir",
            room,
        ]
        with _served([*_as_owner(None), *program, *settings], port, Path(room) / "log"):
            yield f"redis://127.0.0.1:{port}/0"


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """The URL of an empty database in a Postgres of this session's own."""
    programs = postgres_programs()
    if programs is None:
        pytest.skip("no Postgres: `apt-get install postgresql` (make test does this as root)")
    with postgres_server(programs) as url:
        yield url


@pytest.fixture(scope="session")
def redis_url() -> Iterator[str]:
    """The URL of a Redis of this session's own."""
    program = redis_program()
    if program is None:
        pytest.skip("no Redis: `apt-get install redis-server` (make test does this as root)")
    with redis_server(program) as url:
        yield url


@pytest.fixture(scope="session")
def migrated_postgres(postgres_url: str, django_db_setup: None, django_db_blocker: Any) -> dict[str, Any]:
    """Django's settings of the session's Postgres, with our tables in it."""
    import environ
    from django.db import connections

    from config.settings import POSTGRES

    options = {**POSTGRES["OPTIONS"], "pool": {"min_size": 1, "max_size": 30}}
    stored = {**environ.Env.db_url_config(postgres_url), **POSTGRES, "OPTIONS": options}
    programs = postgres_programs()
    assert programs is not None
    fill_postgres(postgres_url, programs)
    with django_db_blocker.unblock(), _default_database(stored) as settings:
        # knox makes its own token table although ours replaces it; Django forgets it when it empties the rest.
        connections["default"].cursor().execute("DROP TABLE IF EXISTS knox_authtoken")
    return settings


@contextmanager
def _default_database(settings: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Put another database behind Django's `default`, in every thread, until the block ends; gives it configured."""
    from django.db import connections

    before, here = connections.settings["default"], connections["default"]
    configured = connections.configure_settings({"default": settings})["default"]
    connections.settings["default"] = configured
    connections["default"] = connections.create_connection("default")
    try:
        yield configured
    finally:
        connections["default"].close()
        if pool := getattr(connections["default"], "close_pool", None):
            pool()
        connections.settings["default"] = before
        connections["default"] = here


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def chosen_database(request: pytest.FixtureRequest) -> Iterator[str]:
    """Put the named database behind `default`; `either_database` is the one to ask for."""
    if request.node.get_closest_marker(
        "django_db"
    ):  # it would set up before and empty the other one afterwards
        pytest.fail(
            "A test on either database must not be marked django_db: its rows would stay in Postgres."
        )
    if request.param == "sqlite":
        yield "sqlite"
        return
    settings = request.getfixturevalue("migrated_postgres")
    with _default_database(settings):
        yield "postgres"


@pytest.fixture
def either_database(chosen_database: str, transactional_db: None) -> str:
    """The name of the database this run of the test is on; committed for real, empty again afterwards."""
    return chosen_database
