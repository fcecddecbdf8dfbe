"""The Python profile: the box needs nothing but `python3`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from runner.languages.base import CanaryPlan, PlannedAssertion
from runner.languages.pid_one import PidOne
from runner.languages.python.canary import plan
from runner.languages.python.instrument import Instrumented, instrument
from runner.sandbox.base import Job, Limits

INSIDE = (
    "runner.sandbox.inside.counting",
    "runner.sandbox.inside.streams",
    "runner.sandbox.inside.process",
    "runner.sandbox.inside.reaping",
    "runner.sandbox.inside.supervisor",
    "runner.languages.python.inside.network",
    "runner.languages.python.inside.texts",
    "runner.languages.python.inside.plain",
    "runner.languages.python.inside.reporter",
    "runner.languages.python.inside.child",
)
SUPERVISOR = "runner.sandbox.inside.supervisor"
ZYGOTE = "runner.sandbox.inside.zygote"
INSIDE_ZYGOTE = (
    *INSIDE,
    "runner.sandbox.inside.confine",
    "runner.sandbox.inside.immortal",
    "runner.sandbox.inside.gaps",
    ZYGOTE,
)
# Loaded before the job comes, so that a submission does not wait for them.
PRELOADED = (
    "math,re,collections,itertools,functools,typing,string,random,heapq,bisect,operator,copy,decimal,datetime"
)
SERVE = "import sys\n{rehearsal}sys.modules[{serving!r}].serve(sys.modules[{child!r}].play{mode})\n"
REHEARSAL = "sys.modules[{child!r}].rehearse({program!r}, {sheet!r})\n"
REHEARSED = Job(
    program="def one(x):\n    return [x, str(x)]\n",
    tests="def test_one():\n    assert one(1) == [1, '1']\n    assert len(one(2)) == 2\n",
    expected=("test_one",),
    limits=Limits.for_cpu(1),
)


@dataclass(frozen=True)
class PreparedTests:
    """A job's tests, instrumented."""

    job: Job
    made: Instrumented
    planned: tuple[PlannedAssertion, ...]
    build_seconds: float = 0.0

    def payload(self, run: Sequence[str]) -> bytes:
        """Return the sheet the program's process reads: instrumented texts, and what to run.

        Of hidden tests no line is ever shown, so the lines of their original are not needed, and putting them back
        costs more than all else a short run does.
        """
        made, job = self.made, self.job
        sheet = {
            "name": made.name,
            "source": made.tests.source,
            "lines": made.tests.lines if job.revealed else [],
            "block": made.block.source,
            "block_lines": made.block.lines if job.revealed else [],
            "text": job.tests if job.revealed else "",
            "block_text": job.block if job.revealed or not job.expected else "",
            "scratch": not job.expected,
            "run": list(run),
        }
        return json.dumps(sheet).encode()


class PythonProfile:
    """Python 3.11 and later."""

    name = "python"
    executes = False
    memory_bytes = 0

    def pid_one(self) -> PidOne:
        """Return the supervisor of one job."""
        return _pid_one()

    def zygote(self, mode: str) -> PidOne:
        """Return pid 1 of a bulk container, which forks a process for each sample."""
        return _pid_one(mode)

    def canaries(self, job: Job) -> CanaryPlan:
        """Return the changes of the job's tests that make one expectation wrong."""
        return plan(job)

    def environment(self, seed: int) -> dict[str, str]:
        """Return what makes two runs alike."""
        return {
            "PYTHONHASHSEED": str(seed),
            "PYTHONDONTWRITEBYTECODE": "1",
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
            "MKL_NUM_THREADS": "1",
            "MPLBACKEND": "Agg",
            "MPLCONFIGDIR": "/tmp",  # noqa: S108 - inside the box
        }

    def prepare(self, job: Job) -> PreparedTests:
        """Return the tests with reporting put in; a scratch snippet stays as it is."""
        outside = not job.revealed and not job.inside
        made = instrument(job.tests, job.block if job.expected else "", job.expected, outside=outside)
        planned = tuple(PlannedAssertion(*assertion) for assertion in made.planned)
        return PreparedTests(job, made, planned)


@cache
def _pid_one(mode: str = "") -> PidOne:
    """Return what pid 1 executes: the supervisor of one job, or the zygote of a mode."""
    serve = SERVE.format(
        serving=ZYGOTE if mode else SUPERVISOR,
        child=INSIDE[-1],
        mode=f", {mode!r}" if mode else "",
        rehearsal=_rehearsal() if mode else "",
    )
    return PidOne.of(INSIDE_ZYGOTE if mode else INSIDE, before=f"import {PRELOADED}\n", serve=serve)


def _rehearsal() -> str:
    """Return what a zygote does once before its first sample."""
    sheet = PythonProfile().prepare(REHEARSED).payload(REHEARSED.expected)
    return REHEARSAL.format(child=INSIDE[-1], program=REHEARSED.program, sheet=sheet)
