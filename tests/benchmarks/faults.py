"""Three hundred executions whose outcomes are known, the servers and workers that see them through, and what came of them.

Used by drill_faults.py and drill_hosts.py, each drill in a process of its own: `ground()` sets Django up for one database.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.benchmarks.engines import OwnEngine
from tests.services import free_port, listens, postgres_programs, postgres_server, redis_program, wait_until

ROOT = Path(__file__).resolve().parents[2]
COUNT = int(os.environ.get("DRILL_COUNT", "300"))
SINGLE, BATCH = COUNT * 2 // 3, 25
PATIENCE_SECONDS = 600
LEASE_SECONDS = 15
SOLUTION = "def twice(n):\n    return n * 2\n"
TESTS = """
def test_small():
    assert twice(1) == 2
    assert twice(2) == 4
def test_large():
    assert twice(10 ** 9) == 2 * 10 ** 9
"""
PROGRAMS = {
    "right": SOLUTION,
    "slow": "import time\ntime.sleep(0.3)\n" + SOLUTION,
    "wrong": "def twice(n):\n    return n + 1\n",
    "half": "def twice(n):\n    return n * 2 if n < 100 else None\n",
    "broken": "def twice(n)\n    return n * 2\n",
    "absent": "import nothing_of_that_name\n" + SOLUTION,
    "leaves": "import os\ndef twice(n):\n    os._exit(0)\n",
    "spins": "def twice(n):\n    while True:\n        pass\n",
    "sleeps": "import time\ndef twice(n):\n    time.sleep(60)\n",
    "eats": "def twice(n):\n    return bytearray(1 << 30)\n",
    "kills": "import os\ndef twice(n):\n    os.kill(os.getpid(), 9)\n",
}
# Of thirty: most end at once, a few at a limit, which is where an outcome could be confused with a fault.
MIX = ["right"] * 11 + ["slow"] * 3 + ["wrong"] * 4 + ["half"] * 3 + ["broken"] * 2 + ["absent"] * 2
MIX += ["leaves", "spins", "sleeps", "eats", "kills"]

OUTCOMES = {
    "right": "PASSED",
    "slow": "PASSED",
    "wrong": "FAILED",
    "half": "FAILED",
    "broken": "LOAD_ERROR",
    "absent": "LOAD_ERROR",
    "leaves": "EARLY_EXIT",
    "spins": "TIMEOUT_CPU",
    "sleeps": "TIMEOUT_WALL",
    "eats": "MEMORY",
    "kills": "SIGNAL",
}


@dataclass
class Redis:
    """A Redis on a port of its own that keeps nothing."""

    room: Path
    port: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        program = redis_program()
        assert program, "apt-get install redis-server"
        command = ["setpriv", "--pdeathsig", "TERM", "--", *program, "--port", str(self.port)]
        command += ["--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", str(self.room)]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        wait_until(lambda: listens(self.port), "Redis", process=self.process)

    def kill(self) -> None:
        assert self.process
        self.process.kill()
        self.process.wait()


@dataclass
class Ground:
    """Where one drill happens."""

    room: Path
    database: str
    redis: Redis
    engine: OwnEngine
    image: str
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def work(self, *words: str, host: str = "", **variables: str) -> subprocess.Popen[bytes]:
        """Start a worker (`config.work`, or another module) with both queues; `host` gives it a host name of its own."""
        module, *rest = words or ("config.work",)
        data = self.room / f"data-{host or 'here'}"
        data.mkdir(exist_ok=True)
        environment = {
            **os.environ,
            "BENCHWRIGHT_DATA": str(data),
            "DOCKER_HOST": self.engine.url,
            "RUNNER_POOL_SIZE": "3",
            "RUNNER_INTERACTIVE_THREADS": "3",
            "RUNNER_BULK_THREADS": "2",
            "RUNNER_LEASE_SECONDS": str(LEASE_SECONDS),
            "RUNNER_RECONCILE_SECONDS": "1",
            "RUNNER_ENGINE_TIMEOUT_SECONDS": "10",
            **variables,
        }
        command = ["setpriv", "--pdeathsig", "TERM", "--", sys.executable, "-m", module, *rest]
        command += ["interactive", "bulk"]
        if host:
            command = ["unshare", "--uts", "sh", "-c", f'hostname {host} && exec "$@"', "sh", *command]
        with (self.room / "worker.log").open("ab") as out:
            worker = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=out, stderr=out)
        self.workers.append(worker)
        return worker

    def restart_postgres(self) -> None:
        """Break every connection: stop at once, start again after two seconds."""
        import psycopg

        with psycopg.connect(self.database) as connection:
            [[data]] = connection.execute("SHOW data_directory").fetchall()
        programs = postgres_programs()
        assert programs
        control = [str(programs / "pg_ctl"), "-D", data]
        if os.geteuid() == 0:
            control = [
                "setpriv",
                "--reuid",
                "postgres",
                "--regid",
                "postgres",
                "--init-groups",
                "--",
                *control,
            ]
        options = Path(data, "postmaster.opts").read_text().split(maxsplit=1)[1].strip().replace('"', "")
        subprocess.run([*control, "stop", "-m", "immediate"], check=True, cwd="/", stdout=subprocess.DEVNULL)
        time.sleep(2)
        start = [*control, "start", "-o", options, "-l", f"{data}/../log-again"]
        subprocess.run(start, check=True, cwd="/", stdout=subprocess.DEVNULL)
        self.stop_postgres = [*control, "stop", "-m", "immediate"]

    stop_postgres: list[str] = field(default_factory=list)

    def end(self) -> None:
        """End the workers in order, as an operator would."""
        for worker in self.workers:
            if worker.poll() is None:
                worker.send_signal(signal.SIGTERM)
        for worker in self.workers:
            with suppress(subprocess.TimeoutExpired):
                worker.wait(60)


@contextmanager
def ground(room: Path, engine: OwnEngine, image: str) -> Iterator[Ground]:
    """Give a ground with a migrated Postgres and an empty Redis; this process's Django is on that database."""
    programs = postgres_programs()
    assert programs, "apt-get install postgresql"
    redis = Redis(room)
    redis.start()
    with postgres_server(programs) as database:
        os.environ |= {
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "BENCHWRIGHT_DATA": str(room),
            "SECRET_KEY": "of no use outside the drills",
            "LOG_LEVEL": "WARNING",
            "DATABASE_URL": database,
            "REDIS_URL": redis.url,
        }
        import django
        from django.core.management import call_command

        django.setup()
        call_command("migrate", verbosity=0, skip_checks=True)
        made = Ground(room, database, redis, engine, image)
        try:
            yield made
        finally:
            made.end()
            _close_connections()
            redis.kill()
            if made.stop_postgres:
                subprocess.run(made.stop_postgres, check=False, cwd="/", stdout=subprocess.DEVNULL)


def _close_connections() -> None:
    from django.db import connections

    connections.close_all()
    if pool := getattr(connections["default"], "close_pool", None):
        pool()


def kind_of(number: int) -> str:
    """Return which program a sample is."""
    return MIX[number * 7 % len(MIX)]


def ask(image: str) -> None:
    """Enqueue the executions; the last third are samples of an evaluation run, executed in batches."""
    from django.utils import timezone

    from runner.bulk import enqueue_many
    from runner.models import Environment
    from runner.queueing import enqueue

    environment, _ = Environment.objects.update_or_create(
        name="plain", defaults={"image_digest": image, "built_at": timezone.now()}
    )
    for number in range(SINGLE):
        enqueue(job_of(number), environment=environment, queue="interactive")
    for start in range(SINGLE, COUNT, BATCH):
        jobs = [job_of(number) for number in range(start, min(start + BATCH, COUNT))]
        enqueue_many(jobs, environment=environment, scope="drill")


def job_of(number: int) -> Any:
    """Return the job of a sample."""
    from runner.sandbox.base import Job, Limits

    kind = kind_of(number)
    # Time enough for the CPU limit to decide on a busy machine, but where wall time is what is tried.
    wall = 1.0 if kind == "sleeps" else 40.0
    limits = Limits(cpu_seconds=1.0, wall_seconds=wall, memory_bytes=256 << 20)
    return Job(PROGRAMS[kind], TESTS, ("test_small", "test_large"), limits)


def done() -> int:
    """Return how many executions are at an end."""
    from runner.models import Execution

    return Execution.objects.exclude(state__in=["queued", "running"]).count()


def wait_for(count: int, seconds: float = PATIENCE_SECONDS) -> bool:
    """Return whether so many executions are at an end within that time; a database that is away is waited for."""
    from django.db import Error, connection

    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            if done() >= count:
                return True
        except Error:
            connection.close()
        time.sleep(0.2)
    return False


def found() -> dict[int, Any]:
    """Return what came of each sample: outcome or reason, and what its assertions showed.

    How far it came behind the first limit is left out: that is the machine's doing as well.
    """
    from runner.models import Execution

    first = Execution.objects.order_by("pk").values_list("pk", flat=True)[0]
    return {
        execution.pk - first: [
            execution.outcome or f"{execution.state}: {execution.reason}",
            sorted(
                [row.test, row.assertion or 0, row.outcome]
                for row in execution.rows.all()
                if row.outcome in ("PASSED", "FAILED")
            ),
        ]
        for execution in Execution.objects.order_by("pk").prefetch_related("rows")
    }


def faults() -> Counter[str]:
    """Return how often a try ended by our fault, by the reason's first words."""
    from runner.models import Fault

    return Counter(reason[:70] for reason in Fault.objects.values_list("reason", flat=True))


def tried_more_than_once() -> int:
    """Return how many executions were claimed more than once, or put back without a try."""
    from django.db.models import Q

    from runner.models import Execution

    return Execution.objects.filter(Q(tries__gt=1) | Q(faults__isnull=False)).distinct().count()
