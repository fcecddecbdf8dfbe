"""From asking for an execution to hearing of its outcome: with an idle worker, and with 200 bulk executions queued.

The site's own path without the browser: row, message, worker, box, row, channel layer. Goals (design.md): idle p50 30 ms
and p95 80 ms for the whole way from click to page; p95 120 ms under bulk.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import docker

from tests.services import redis_program, redis_server

ROOT = Path(__file__).resolve().parents[2]
TIMES = 50
PAUSE_SECONDS = 0.25
BULK = 200
WARM_SECONDS = 8


def main() -> int:
    """Print the figures; return 1 where bulk work made people wait for its end."""
    program = redis_program()
    if program is None:
        print("This needs redis-server: apt-get install redis-server")
        return 1
    with tempfile.TemporaryDirectory(prefix="benchwright-lanes-") as room, redis_server(program) as url:
        os.environ |= {
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "BENCHWRIGHT_DATA": room,
            "REDIS_URL": url,
            "LOG_LEVEL": "WARNING",
        }
        return measured()


def measured() -> int:
    """Start a worker on an empty site and measure."""
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0, skip_checks=True)
    environment = plain_environment()
    worker = subprocess.Popen(
        ["setpriv", "--pdeathsig", "TERM", "--", sys.executable, "-m", "config.work"], cwd=ROOT
    )
    try:
        time.sleep(WARM_SECONDS)
        show("idle", asyncio.run(times(environment)))
        for _ in range(BULK):
            ask(environment, "bulk", "")
        began = time.monotonic()
        show(f"{BULK} bulk queued", asyncio.run(times(environment)))
        return 0 if left_in_bulk(time.monotonic() - began) else 1
    finally:
        worker.terminate()
        worker.wait(60)


def plain_environment():
    """Store the plain image and return its environment."""
    from django.utils import timezone

    from runner.models import Environment

    image = docker.from_env().images.get("benchwright/python:3.13").id
    return Environment.objects.create(name="plain", image_digest=image, built_at=timezone.now())


def ask(environment, queue: str, listener: str):
    """Enqueue a trivial job."""
    from runner.queueing import enqueue
    from runner.sandbox.base import Job, Limits

    job = Job(
        "def one():\n    return 1\n",
        "def test_one():\n    assert one() == 1\n",
        ("test_one",),
        Limits.for_cpu(1),
    )
    return enqueue(job, environment=environment, queue=queue, listener=listener)


async def times(
    environment, at_most: int = TIMES, pause: Callable[[], float] = lambda: PAUSE_SECONDS
) -> list[float]:
    """Return the milliseconds from asking to hearing that it is finished, one after the other, with a pause between."""
    from asgiref.sync import sync_to_async
    from channels.layers import get_channel_layer

    layer = get_channel_layer()
    channel = await layer.new_channel()
    await layer.group_add("bench", channel)
    found = []
    for _ in range(at_most):
        began = time.perf_counter()
        execution = await sync_to_async(ask)(environment, "interactive", "bench")
        while execution.is_open:
            message = await asyncio.wait_for(layer.receive(channel), 60)
            if message["execution"] == execution.pk:
                await execution.arefresh_from_db(fields=["state", "outcome"])
        assert execution.outcome == "PASSED", execution.reason
        found.append((time.perf_counter() - began) * 1000)
        await asyncio.sleep(pause())
    return found


def show(what: str, found: list[float]) -> None:
    """Print median, p95 and worst."""
    ordered = sorted(found)
    print(
        f"{what:18} n={len(found)} p50 {statistics.median(found):6.1f}  p95 {ordered[int(len(found) * 0.95) - 1]:6.1f}"
        f"  max {ordered[-1]:6.1f} ms   (load {os.getloadavg()[0]:.1f})",
        flush=True,
    )


def left_in_bulk(seconds: float) -> int:
    """Print how far the bulk queue got and return what is left of it."""
    from runner.models import Execution

    left = Execution.objects.filter(queue="bulk").open().count()
    print(f"bulk: {BULK - left} executed in {seconds:.0f} s meanwhile, {left} left")
    return left


if __name__ == "__main__":
    sys.exit(main())
