"""EXECUTE: program and tests as they stand: the reference must pass, and a function that does nothing must not."""

from __future__ import annotations

from django.db import transaction

from examples.checking import empty_body
from examples.generation.making import draft_of, job_of
from examples.generation.work import Work
from examples.models import Round

VACUOUS = "a function that does nothing passes these tests. Assert what it gives or changes."


def take(work: Work) -> None:
    """Execute, and keep the execution with the round that changed program or tests last.

    Raises masking.MaskingError where the focal function cannot be opened, Unjudged.
    """
    code = work.standing.code
    assert code is not None
    draft = draft_of(work.fragment, program=work.standing.program, tests=work.standing.tests)
    execution = work.execute(job_of(draft))
    rule = message = ""
    if execution.passed and empty_body.accepted(work.execute(job_of(draft, empty=True))):
        rule, message = "accepts_empty_body", VACUOUS
    with transaction.atomic():
        work.claim.renew()
        Round.objects.filter(pk=code.pk).update(execution=execution)
        if rule:
            tests = work.standing.latest(Round.Subject.TESTS)
            assert tests is not None
            Round.objects.filter(pk=tests.pk).update(rule=rule, message=message)
    work.look()
