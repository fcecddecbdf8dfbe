"""What the profiles of JavaScript and C++ have in common: how a job's tests travel, and what the box is started with."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from runner.languages.base import PlannedAssertion
from runner.languages.braces.statements import planned
from runner.languages.braces.tokens import Dialect
from runner.languages.cases import CaseInvalid, cases_of, for_box, is_cases
from runner.languages.pid_one import PidOne
from runner.sandbox.base import Job

INSIDE = (
    "runner.sandbox.inside.counting",
    "runner.sandbox.inside.streams",
    "runner.sandbox.inside.process",
    "runner.sandbox.inside.reaping",
    "runner.sandbox.inside.supervisor",
    "runner.languages.inside.handing",
)
SUPERVISOR = "runner.sandbox.inside.supervisor"
SERVE = """
import sys
for name, text in {texts!r}:
    setattr(sys.modules[name.rpartition(".")[0]], name.rpartition(".")[2], text)
sys.modules[{supervisor!r}].serve(sys.modules[{child!r}].play)
"""


@dataclass(frozen=True)
class BraceTests:
    """A job's tests: a script in the language, cases (runner/languages/cases.py), or a scratch snippet."""

    job: Job
    style: str
    planned: tuple[PlannedAssertion, ...]
    spans: Mapping[str, list[tuple[int, int, int]]]
    build_seconds: float

    @classmethod
    def of(cls, job: Job, dialect: Dialect, *, build_seconds: float) -> BraceTests:
        """Return the job's tests; what cannot be read is passed on, reports nothing, and so passes nothing."""
        if not job.expected:
            return cls(job, "scratch", (), {}, build_seconds)
        if is_cases(job.tests):
            try:
                found = [each for each in cases_of(job.tests) if each.test in job.expected]
            except CaseInvalid:
                found = []
            plan = [
                PlannedAssertion(each.test, each.number, each.line, each.comparator, certain=True)
                for each in found
            ]
            return cls(job, "cases", tuple(plan), {}, build_seconds)
        places = planned(job.tests, dialect, job.expected)
        spans = {test: [(each.number, each.first, each.last) for each in own] for test, own in places.items()}
        plan = [
            PlannedAssertion(test, place.number, place.first) for test, own in places.items() for place in own
        ]
        return cls(job, "script", tuple(plan), spans, build_seconds)

    def payload(self, run: Sequence[str]) -> bytes:
        """Return the sheet the program's process reads. Of cases it holds what to call, never what must come of it."""
        sheet = {
            "style": self.style,
            "tests": {"script": self.job.tests, "scratch": self.job.block}.get(self.style, ""),
            "run": list(run),
            "spans": self.spans,
            "cases": for_box(cases_of(self.job.tests), run) if self.style == "cases" and self.planned else {},
        }
        return json.dumps(sheet).encode()


def pid_one(child: Sequence[str], texts: Mapping[str, str]) -> PidOne:
    """Return what pid 1 executes: the supervisor, and the modules of its child, the last of which has `play`.

    `texts` are put into those modules by name, `module.NAME`: what they give to programs in other languages.
    """
    serve = SERVE.format(texts=list(texts.items()), supervisor=SUPERVISOR, child=child[-1])
    return PidOne.of((*INSIDE, *child), serve=serve)
