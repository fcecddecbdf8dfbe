"""The JavaScript profile: node runs the program as a script; python3 is there for the supervisor alone."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from runner.languages.base import CanaryPlan
from runner.languages.brace_canaries import plan
from runner.languages.brace_tests import BraceTests, pid_one
from runner.languages.pid_one import PidOne
from runner.sandbox.base import Job

HERE = Path(__file__).parent / "inside"
CHILD = "runner.languages.javascript.inside.child"


class JavaScriptProfile:
    """JavaScript as node runs a CommonJS script: `require` works, `import` statements do not."""

    name = "javascript"
    executes = False
    memory_bytes = 0

    def pid_one(self) -> PidOne:
        """Return the supervisor; it forks, and the fork becomes node."""
        return _pid_one()

    def environment(self, seed: int) -> dict[str, str]:
        """Return what makes two runs alike; the seed is that of Math.random, and node does not see it here."""
        return {"BENCHWRIGHT_SEED": str(seed), "NODE_NO_WARNINGS": "1"}

    def canaries(self, job: Job) -> CanaryPlan:
        """Return what may serve as canaries of the job."""
        return plan(job, "javascript")

    def prepare(self, job: Job) -> BraceTests:
        """Return the tests, a script or cases; a scratch snippet stays as it is."""
        return BraceTests.of(job, "javascript", build_seconds=0.0)


@cache
def _pid_one() -> PidOne:
    return pid_one((CHILD,), {f"{CHILD}.REPORTER": (HERE / "reporter.js").read_text()})
