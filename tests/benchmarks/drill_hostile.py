"""Hostile submissions in real boxes: what must come of each and what did, and what is left afterwards.

    python -m tests.benchmarks.drill_hostile [NAME ...]

The cases of the acceptance list as the tests run them. Exit 1 where one came to anything else, where a right answer was
given to a wrong program, or where more than the warm pool carries our label when all is done.
"""

from __future__ import annotations

import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor

AT_ONCE = 2


def main(names: list[str]) -> int:
    """Run the chosen cases, print a line for each, look at what is left; return the exit status."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    import django
    import docker

    django.setup()
    from runner.sandbox.engine import Engine
    from runner.sandbox.pool import Pool
    from tests.benchmarks.figures import machine
    from tests.runner.hostile import CASES

    image = docker.from_env().images.get("benchwright/python:3.13").id
    cases = [case for case in CASES if not names or any(name in case.name for name in names)]
    pool = Pool(Engine(), {image: AT_ONCE})
    print(machine())
    print(f"{'submission':44} {'expected':36} got")
    try:
        pool.wait_until_full(60)
        with ThreadPoolExecutor(AT_ONCE) as threads:
            results = threads.map(lambda case: _held(pool, image, case), cases)
            held = sum(results)
        left = _left_beside(pool, image)
    finally:
        pool.close()
    gone = _labelled()
    print(
        f"{held} of {len(cases)} came to their one outcome; beside the warm pool were left: {left or 'none'};"
    )
    print(f"with the pool closed, of this process: {gone or 'none'}")
    return 0 if held == len(cases) and not left and not gone else 1


def _held(pool: object, image: str, case: object) -> bool:
    """Run one case, print expected and got, and return whether they agree."""
    from runner.outcome import judge
    from runner.sandbox.pool import Pool
    from tests.runner.hostile import Case

    assert isinstance(pool, Pool)
    assert isinstance(case, Case)
    job = case.job()
    name = f"drill-{time.monotonic_ns()}"
    measurement = pool.run(job, image=image, name=name, on_started=lambda: None, on_row=lambda row: None)
    found = judge(measurement, job.expected)
    expected = (case.whole, case.f, case.g)
    got = (found.outcome, *(row.outcome for row in found.tests))
    words = [", ".join(map(str, each)) for each in (expected, got)]
    print(f"{case.name:44} {words[0]:36} {words[1]}{'' if got == expected else '   WRONG'}", flush=True)
    return got == expected


def _labelled() -> list[str]:
    """Return the containers of this process, by name, once those that are being removed have had time to go."""
    import docker

    client = docker.from_env()
    found: list[str] = []
    for _ in range(50):
        listed = client.api.containers(all=True, filters={"label": "org.benchwright.owner"})
        owners = [
            (box["Labels"]["org.benchwright.owner"].rpartition("/")[2], box["Names"][0]) for box in listed
        ]
        found = [name for owner, name in owners if owner.split("-")[0] == str(os.getpid())]
        if not found:
            break
        time.sleep(0.1)
    return found


def _left_beside(pool: object, image: str) -> str:
    """Return the containers of this process beyond those that wait in the pool."""
    from runner.sandbox.pool import Pool

    assert isinstance(pool, Pool)
    pool.wait_until_full(60)
    names = _labelled()
    beyond = len(names) - pool.waiting(image)
    return f"{beyond} of {', '.join(names)}" if beyond > 0 else ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
