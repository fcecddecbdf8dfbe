"""GENERATE: take a fragment, go from step to step until its end, and keep each round; safe to be called twice."""

from __future__ import annotations

from contextlib import suppress

from django.db import transaction
from django.db.models import Exists, OuterRef
from django.db.models.functions import Now

from examples.checking.run import check_version
from examples.generation import claims
from examples.generation.budget import BudgetSpent
from examples.generation.claims import Claim, ClaimLost
from examples.generation.plain import PlainRefused
from examples.generation.replaying import ReplayDiverged, model_of
from examples.generation.standing import Act, Ending, next_act
from examples.generation.steps import acceptance, augmentation, judging, repair, standalone, write_tests
from examples.generation.work import TOO_DEEP, Unjudged, Work
from examples.languages.python import source as python
from examples.llm import Model, ModelRefused, TryLater
from examples.masking import MaskingError
from examples.models import Example, Fragment, GenerationRun, Version
from runner import boxes

# A fragment that so many workers took and none brought to an end is left to a curator.
MOST_TRIES = 20
State = Fragment.State


def generate(fragment_id: int, *, model: Model | None = None) -> Fragment.State | None:
    """Bring a fragment to its end and return its state, None where it is not to be had.

    Executes in this process, so it belongs into a worker or a command. `model` is asked instead of the run's own.
    """
    claim = claims.take(fragment_id)
    if claim is None:
        return None
    fragment = Fragment.objects.select_related("run__dataset", "run__environment").get(pk=fragment_id)
    try:
        _advance(fragment, claim, model)
    except ClaimLost:
        return None
    except boxes.Closing:
        with suppress(ClaimLost):
            claim.give_back()
        return None
    fragment.refresh_from_db()
    if fragment.state == State.ACCEPTED:
        with suppress(boxes.Closing):
            _check(fragment)
    finish_run(fragment.run)
    return State(fragment.state)


def finish_run(run: GenerationRun) -> bool:
    """Bring a running run without an open fragment to its end, and return whether this did."""
    left = Fragment.objects.open().filter(run=OuterRef("pk"))
    done = GenerationRun.objects.running().filter(~Exists(left), pk=run.pk)
    return bool(done.update(state=GenerationRun.State.FINISHED, finished_at=Now()))


def stop_run(run: GenerationRun, reason: str) -> bool:
    """Stop a run: what is under way ends with its round, and the rest waits. Returns whether it was running."""
    running = GenerationRun.objects.running().filter(pk=run.pk)
    return bool(running.update(state=GenerationRun.State.STOPPED, reason=reason))


def withdraw_failed(run: GenerationRun) -> int:
    """Reject fragments whose examples' checks failed after all, and return how many.

    Acceptance executes twice and the checks five times, so a rare flake shows only there.
    """
    failed = Fragment.objects.filter(
        run=run,
        state=State.ACCEPTED,
        example__current__check_state=Version.CheckState.FAILED,
        example__current__number=1,
    )
    count = 0
    for fragment in failed.select_related("example__current"):
        example = fragment.example
        assert example is not None
        assert example.current is not None
        said = f"Checks of {example.label} failed: {example.current.failed_checks}."
        accepted = Fragment.objects.filter(pk=fragment.pk, state=State.ACCEPTED)
        with transaction.atomic():
            if accepted.update(state=State.REJECTED, example=None, reason_code="checks", reason=said):
                Example.objects.filter(pk=example.pk).update(
                    status=Example.Status.RETIRED, status_reason=said
                )
                count += 1
    return count


def _advance(fragment: Fragment, claim: Claim, model: Model | None) -> None:
    """Go from act to act until the fragment or its run has come to an end."""
    try:
        if fragment.tries > MOST_TRIES:
            claim.end(State.STOPPED, code="tries", message=f"{fragment.tries} workers took it in vain.")
            return
        work = Work(fragment, claim, model or model_of(fragment))
        while _still_running(fragment):
            ending = _step(work)
            if ending is not None:
                claim.end(State.REJECTED, code=ending.code, message=ending.message)
                return
            if not _is_mine(fragment, claim):
                return
        claim.give_back()
    except (BudgetSpent, ModelRefused) as stop:
        stop_run(fragment.run, str(stop))
        claim.give_back()
    except (TryLater, ReplayDiverged) as failure:
        claim.end(State.STOPPED, code="endpoint", message=str(failure))
    except Unjudged as failure:
        claim.end(State.STOPPED, code="unjudged", message=str(failure))


def _step(work: Work) -> Ending | None:
    """Take the next act, and return the ending where there is one."""
    act = next_act(work.standing, work.ways)
    if isinstance(act, Ending):
        return act
    try:
        if act is Act.ACCEPT:
            return acceptance.accept(work)
        STEPS[act](work)
    except PlainRefused as refusal:
        return Ending(refusal.code, refusal.message)
    except (MaskingError, python.SourceInvalid, python.FunctionNotFound) as error:
        return Ending("cannot_be_opened", str(error))
    except RecursionError:
        return Ending("syntax", TOO_DEEP)
    return None


STEPS = {
    Act.STANDALONE: standalone.take,
    Act.WRITE_TESTS: write_tests.take,
    Act.JUDGE: judging.take,
    Act.DROP: repair.drop,
    Act.REPAIR: repair.take,
    Act.AUGMENT: augmentation.take,
    Act.INSTRUCT: acceptance.instruct,
}


def _still_running(fragment: Fragment) -> bool:
    return GenerationRun.objects.running().filter(pk=fragment.run_id).exists()


def _is_mine(fragment: Fragment, claim: Claim) -> bool:
    """Return whether the fragment still carries the claim: an act that ended it has dropped that."""
    return Fragment.objects.filter(pk=fragment.pk, claim=claim.token).exists()


def _check(fragment: Fragment) -> None:
    """Let the new example pass its checks at once; a worker that dies here leaves them to the others."""
    assert fragment.example is not None
    assert fragment.example.current is not None
    check_version(fragment.example.current.pk)
    withdraw_failed(fragment.run)
    fragment.refresh_from_db()
