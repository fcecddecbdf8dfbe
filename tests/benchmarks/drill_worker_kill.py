"""Kill workers at five points on both databases and print what came of each execution."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import docker

from tests.runner.killing import Result, drills_on_postgres, drills_on_sqlite
from tests.services import postgres_programs, postgres_server, redis_program, redis_server


def main() -> int:
    """Print a line for each drill; return 1 where one did not hold or could not be run."""
    program, programs = redis_program(), postgres_programs()
    if program is None or programs is None:
        print("This needs redis-server and postgresql: apt-get install redis-server postgresql")
        return 1
    image = docker.from_env().images.get("benchwright/python:3.13").id
    with tempfile.TemporaryDirectory(prefix="benchwright-drill-") as room, redis_server(program) as redis_url:
        held = shown("SQLite", drills_on_sqlite(Path(room) / "sqlite", redis_url, image))
        with postgres_server(programs) as url:
            held &= shown("Postgres", drills_on_postgres(Path(room) / "postgres", url, redis_url, image))
    return 0 if held else 1


def shown(database: str, results: list[Result]) -> bool:
    """Print the results and return whether all hold."""
    print(f"{database}: the worker is killed when the execution is ...")
    for result in results:
        print(f"  {result}")
    return all(result.holds for result in results)


if __name__ == "__main__":
    sys.exit(main())
