"""Ask for one execution, wait until it is at an end, print what came of it as JSON. For tests only.

`python -m tests.runner.asking IMAGE_DIGEST SECONDS [SECONDS_OF_THE_TEST]`
"""

from __future__ import annotations

import json
import sys
import time

import django

TESTS = """
import time
def test_one():
    assert one() == 1
    time.sleep({pause})
    assert one() < 2
def test_two():
    assert one() != 2
"""


def main(image: str, seconds: float, pause: float = 0.3) -> None:
    """Enqueue, wait, print."""
    django.setup()
    from django.utils import timezone

    from runner.models import Environment
    from runner.queueing import enqueue
    from runner.sandbox.base import Job, Limits

    environment, _ = Environment.objects.update_or_create(
        name="plain", defaults={"image_digest": image, "built_at": timezone.now()}
    )
    tests = TESTS.format(pause=pause)
    job = Job("def one():\n    return 1\n", tests, ("test_one", "test_two"), Limits.for_cpu(10))
    execution = enqueue(job, environment=environment, queue="interactive", listener="drill")
    print("asked", flush=True)
    if pause > 1:
        while not execution.rows.exists():
            time.sleep(0.1)
        print("a row arrived", flush=True)
    end = time.monotonic() + seconds
    while execution.is_open and time.monotonic() < end:
        time.sleep(0.1)
        execution.refresh_from_db()
    rows = [[row.number, row.test, row.assertion, row.outcome] for row in execution.rows.all()]
    found = {
        "state": execution.state,
        "outcome": execution.outcome,
        "tries": execution.tries,
        "reason": execution.reason,
        "rows": rows,
        "seconds": round(seconds - (end - time.monotonic()), 1),
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1], *(float(word) for word in sys.argv[2:]))
