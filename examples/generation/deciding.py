"""CURATE: a fragment by a curator's hand: edit a text and go on from there, accept, reject with a reason, take up again."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.db.models import Max

from examples.generation.making import create_example, draft_of
from examples.generation.rules.tests import functions_of_tests
from examples.generation.standing import Standing
from examples.languages.python import source as python
from examples.masking import MaskingError
from examples.models import Example, Fragment, GenerationRun, Round, Step, audit
from examples.waking import wake_on_commit

Subject = Round.Subject
State = Fragment.State
STEPS = {
    Subject.PROGRAM: Step.STANDALONE,
    Subject.TESTS: Step.WRITE_TESTS,
    Subject.INSTRUCTION: Step.ACCEPTANCE,
}
LONGEST = 200_000  # characters of one text


class FragmentBusy(Exception):
    """Somebody has the fragment, or it is where this cannot be done; the message says which, and what helps."""


class TextRefused(ValueError):
    """What is wrong with an edited text, and what helps."""


def edit_text(fragment: Fragment, *, subject: str, text: str, by: Any) -> Round:
    """Keep a curator's text as the next round, and let the fragment go on from there.

    Raises TextRefused, and FragmentBusy while it is being worked on or once it is an example.
    """
    text = text.replace("\r\n", "\n")
    _look_at(fragment, Subject(subject), text)
    with transaction.atomic():
        _set_waiting(
            fragment, from_states=[each for each in State if each not in (State.WORKING, State.ACCEPTED)]
        )
        number = 1 + (fragment.rounds.aggregate(last=Max("number"))["last"] or 0)
        kept = Round.objects.create(
            fragment=fragment,
            number=number,
            step=STEPS[Subject(subject)],
            subject=subject,
            text=text,
            edited_by=by,
            note="Edited by a curator.",
        )
        audit(by, "fragment edited", f"fragment:{fragment.pk}", text=subject, round=number)
        _wake()
    return kept


def take_up_again(fragment: Fragment, *, by: Any) -> None:
    """Let a fragment that was rejected or stopped go on from its last round. Raises FragmentBusy."""
    with transaction.atomic():
        _set_waiting(fragment, from_states=[State.REJECTED, State.STOPPED])
        audit(by, "fragment taken up again", f"fragment:{fragment.pk}")
        _wake()


def accept_fragment(fragment: Fragment, *, by: Any) -> Example:
    """Make an example of a fragment that held; its checks run by themselves. Raises FragmentBusy."""
    standing = Standing(list(fragment.rounds.order_by("number")))
    with transaction.atomic():
        held = Fragment.objects.select_for_update().filter(pk=fragment.pk, state=State.READY).first()
        if held is None:
            raise FragmentBusy(
                "Only a fragment that held can be accepted. Edit it, and let it go through its steps."
            )
        draft = draft_of(
            fragment, program=standing.program, tests=standing.tests, instruction=standing.instruction
        )
        example = create_example(fragment, draft)
        Fragment.objects.filter(pk=fragment.pk).update(state=State.ACCEPTED, example=example)
        audit(by, "fragment accepted", f"fragment:{fragment.pk}", example=example.pk)
        _wake_checks()
    return example


def reject_fragment(fragment: Fragment, *, reason: str, by: Any) -> None:
    """Reject a fragment for a reason. Raises TextRefused without one, FragmentBusy."""
    reason = reason.strip()
    if not reason:
        raise TextRefused("Say why, so that the yield report can count it.")
    with transaction.atomic():
        done = Fragment.objects.filter(
            pk=fragment.pk, state__in=[State.WAITING, State.READY, State.STOPPED, State.REJECTED]
        ).update(state=State.REJECTED, reason_code="curator", reason=reason, claim="", lease_end=None)
        if not done:
            raise FragmentBusy(_busy(fragment))
        audit(by, "fragment rejected", f"fragment:{fragment.pk}", reason=reason)


def _look_at(fragment: Fragment, subject: Round.Subject, text: str) -> None:
    """Raise TextRefused where a text cannot be what it is to be."""
    if not text.strip():
        raise TextRefused("It is empty. Write it, or leave the page without saving.")
    if len(text) > LONGEST or "\0" in text:
        raise TextRefused(f"It is longer than {LONGEST:,} characters, or holds a NUL. Shorten it.")
    if subject == Subject.INSTRUCTION:
        return
    try:
        tree = python.parse(text)
        if subject == Subject.PROGRAM:
            python.find(tree, fragment.function)
            draft_of(fragment, program=text, tests="def test_nothing():\n    pass\n")
    except python.SourceInvalid as error:
        raise TextRefused(f"Line {error.line}: {error.message}. Write Python 3.") from error
    except (python.FunctionNotFound, MaskingError) as error:
        raise TextRefused(f"{error}. Keep the function {fragment.function}.") from error
    if subject == Subject.TESTS and not functions_of_tests(tree):
        raise TextRefused(
            "There is no test function. Write one called test_… at the top level, without arguments."
        )


def _set_waiting(fragment: Fragment, *, from_states: list[Fragment.State]) -> None:
    """Let workers take the fragment, by one conditional UPDATE; its run goes on where it had finished."""
    changed = (
        Fragment.objects.filter(pk=fragment.pk, state__in=from_states)
        .exclude(source="")
        .update(
            state=State.WAITING,
            claim="",
            lease_end=None,
            reason_code="",
            reason="",
            finished_at=None,
            tries=0,
        )
    )
    if not changed:
        raise FragmentBusy(_busy(fragment))
    GenerationRun.objects.filter(pk=fragment.run_id, state=GenerationRun.State.FINISHED).update(
        state=GenerationRun.State.RUNNING, finished_at=None
    )


def _busy(fragment: Fragment) -> str:
    fragment.refresh_from_db(fields=["state"])
    if fragment.state == State.WORKING:
        return "A worker has the fragment at this moment. Wait until its round has ended."
    if fragment.state == State.ACCEPTED:
        return "It is an example now. Propose a version of that, or retire it."
    return f"This cannot be done with a fragment that is {fragment.get_state_display()}."


def _wake() -> None:
    from examples.tasks import wake_generation

    wake_on_commit(wake_generation)


def _wake_checks() -> None:
    from examples.tasks import check_waiting

    wake_on_commit(check_waiting)
