"""Try again what stayed unjudged, where it still counts for somebody: by a curator, once the cause is gone."""

from __future__ import annotations

from django.db import transaction

from annotation.attempts import Refused, submissions_of
from annotation.models import Attempt, Run
from examples.checking.run import request_checks
from examples.models import Version
from runner import queueing
from runner.models import Execution


def try_again(execution: Execution) -> str:
    """Put an unjudged execution back into the queue, with all that hangs on it, and return what was done, in words.

    Raises Refused where nobody waits for it any more: another run or submission has taken its place, or the work is over.
    """
    if execution.state != Execution.State.UNJUDGED:
        raise Refused("It is not unjudged any more.")
    if versions := list(Version.objects.filter(checks__executions=execution).distinct()):
        if not request_checks([version.pk for version in versions]):
            raise Refused("The checks that it belongs to are running already.")
        return "The checks that it belongs to run again."
    run = Run.objects.filter(execution=execution).select_related("attempt").first()
    if run is None:
        _queue(execution)
    else:
        with transaction.atomic():
            # Submissions are taken under this lock, so that never more than allowed come to count.
            attempt = (
                Attempt.objects.select_for_update(of=("self",))
                .select_related("slot__study")
                .get(pk=run.attempt_id)
            )
            _refuse_if_useless(attempt, run)
            _queue(execution)
    return f"Execution {execution.pk} is queued again."


def _refuse_if_useless(attempt: Attempt, run: Run) -> None:
    """Raise where an outcome would change nothing, or something that its author has gone on from."""
    if attempt.state != Attempt.State.OPEN or attempt.slot.annotator_id != attempt.annotator_id:
        raise Refused("The work on this attempt has ended, so its outcome would count for nothing.")
    newer = attempt.runs.filter(number__gt=run.number)
    if run.kind != Run.Kind.SUBMISSION:
        if newer.exists():
            raise Refused("Its author has started a newer run since.")
    elif newer.filter(kind=Run.Kind.SUBMISSION).exists() or not submissions_of(attempt).left:
        raise Refused("Its author has submitted again since, and only that counts.")


def _queue(execution: Execution) -> None:
    if not queueing.try_again(execution):
        raise Refused("Its author has a newer run waiting, or somebody else was faster.")
