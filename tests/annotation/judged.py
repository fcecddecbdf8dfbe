"""What judging is tried on: people's attempts at a version with their solutions, and executions that have ended."""

from __future__ import annotations

from dataclasses import replace

from django.utils import timezone

from annotation.models import Attempt, Run, Slot, Study, StudyPerson, Trial, Verdict
from annotation.runs import fingerprint
from examples.editing import edit_of
from runner.models import Execution, TestRow
from runner.sandbox.base import Job, Limits
from tests.factories import make_study

RIGHT = "def with_tax(net):\n    return round(net * 1.2, 2)\n"
STRICT = "def with_tax(net):\n    return net * 1.2\n"
UNFINISHED = "def with_tax(net):\n    return None\n"


def attempt_by(person, version, function, *, outcome="PASSED", kind=Run.Kind.SUBMISSION, study=None, **said):
    """Return a closed attempt with one run of the function, and a verdict."""
    study = study or study_of(person)
    slot = Slot.objects.create(
        study=study,
        version=version,
        number=1 + study.slots.filter(version=version).count(),
        state=Slot.State.CLOSED,
        annotator=person,
    )
    now = timezone.now()
    attempt = Attempt.objects.create(
        slot=slot,
        annotator=person,
        protocol=study.protocol,
        state=Attempt.State.CLOSED,
        started_at=now,
        ended_at=now,
    )
    job = Job(program="", tests="", expected=(), limits=Limits.for_cpu(1))
    execution = Execution.objects.create(
        queue="interactive",
        environment=version.environment,
        job_data=job.as_json(),
        state="finished",
        outcome=outcome,
        finished_at=now,
    )
    for number, test in enumerate(version.expected, 1):
        TestRow.objects.create(execution=execution, number=number, test=test, outcome=outcome, line=3)
    Run.objects.create(
        attempt=attempt,
        kind=kind,
        number=1,
        key="k",
        function=function,
        sha256=fingerprint(function, ""),
        execution=execution,
    )
    solved = outcome == "PASSED" and kind == Run.Kind.SUBMISSION
    answers = {"outcome": "solved" if solved else "gave_up", "difficulty": "trivial"} | said
    answers = {"instruction_quality": 0, "test_quality": 0} | answers
    Verdict.objects.create(attempt=attempt, solved=solved, **answers)
    return attempt


def study_of(person):
    study = Study.objects.filter(name="shop").first() or make_study("shop", versions=[], people=[], solvers=2)
    StudyPerson.objects.get_or_create(study=study, person=person)
    return study


def finish_all(**outcomes):
    """Let all that waits have come to an outcome: by the hash's owner, PASSED unless told (`reference` for that)."""
    for trial in Trial.objects.filter(execution__state="queued").select_related("execution"):
        key = "reference" if trial.program == "reference" else trial.function
        outcome = outcomes.get({RIGHT: "right", STRICT: "strict"}.get(key, key), "PASSED")
        done = (
            {"state": "unjudged", "reason": "no worker"}
            if outcome == "unjudged"
            else {
                "state": "finished",
                "outcome": outcome,
            }
        )
        Execution.objects.filter(pk=trial.execution_id).update(**done)
        if outcome != "unjudged":
            TestRow.objects.create(
                execution_id=trial.execution_id, number=1, test="test_with_tax", outcome=outcome, line=2
            )


def looser(version):
    edit = edit_of(version)
    return replace(edit, tests=edit.tests.replace("== 23.99", "in (23.99, 23.988)"))
