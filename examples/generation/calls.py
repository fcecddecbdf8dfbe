"""CALLS: a question is kept, with what it may cost, before it is sent; a recorded reply is never asked for again."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from django.db import transaction
from django.db.models import Max
from django.db.models.functions import Now

from examples.generation import budget
from examples.generation.budget import Charge
from examples.generation.claims import Claim, ClaimLost
from examples.generation.prompts import Written
from examples.llm import Model, ModelRefused, Parameters, Reply, TryLater, patiently, request_of
from examples.llm.base import hash_of
from examples.models import Call, Fragment, GenerationRun, Step
from runner import boxes
from runner.models import bounded

LOST = "The worker was lost before the reply was recorded; it counts in full."
LONGEST_REPLY = 1 << 20
# Between two tries it is looked this often whether this process is to end; nothing else would wake it.
LOOK_SECONDS = 1.0
State = Call.State


def ask(
    model: Model,
    written: Written,
    *,
    run: GenerationRun,
    fragment: Fragment,
    claim: Claim,
    step: Step,
    number: int,
    json: bool = False,
) -> Call:
    """Return the recorded call of a slot (fragment, number), asking the model where there is none.

    Raises budget.BudgetSpent before anything is sent, TryLater after the last try, ModelRefused, ClaimLost.
    """
    slot = Call.objects.filter(fragment=fragment, number=number)
    if (recorded := slot.filter(state=State.RECORDED).first()) is not None:
        return recorded
    _give_up_sent(fragment, number, claim)
    request = request_of(written.prompt, parameters_of(run, json=json))

    def once() -> Call:
        call = _keep_intent(
            request, written, run=run, fragment=fragment, claim=claim, step=step, number=number
        )
        began = time.monotonic()
        try:
            reply = model.answer(request)
        except TryLater as failure:
            _end_without_reply(call, run, claim, str(failure), charged=failure.charged)
            raise
        except ModelRefused as refusal:
            _end_without_reply(call, run, claim, str(refusal), charged=False)
            raise
        return _record(call, run, claim, reply, time.monotonic() - began)

    return patiently(once, wait=_waiting(claim))


def parameters_of(run: GenerationRun, *, json: bool) -> Parameters:
    """Return how a run asks its model."""
    return Parameters(
        model=run.model,
        temperature=run.temperature,
        seed=run.seed,
        max_tokens=run.max_tokens,
        json=json and run.json_mode,
    )


def reply_of(call: Call) -> Reply:
    """Return the reply of a recorded call."""
    return Reply(call.reply, call.finish, call.prompt_tokens, call.completion_tokens)


def _keep_intent(
    request: Mapping[str, Any],
    written: Written,
    *,
    run: GenerationRun,
    fragment: Fragment,
    claim: Claim,
    step: Step,
    number: int,
) -> Call:
    """Commit the call with what it may cost, under the claim."""
    charge = budget.at_most(run, request)
    with transaction.atomic():
        claim.renew()
        budget.reserve(run, charge)
        former = Call.objects.filter(fragment=fragment, number=number).aggregate(Max("attempt"))
        return Call.objects.create(
            run=run,
            fragment=fragment,
            step=step,
            number=number,
            attempt=(former["attempt__max"] or 0) + 1,
            request=request,
            request_hash=hash_of(request),
            prompt_version=written.version,
            reserved_tokens=charge.tokens,
            reserved_micros=charge.micros,
            charged_tokens=charge.tokens,
            charged_micros=charge.micros,
        )


def _record(call: Call, run: GenerationRun, claim: Claim, reply: Reply, seconds: float) -> Call:
    """Keep the reply and charge what it took; what the endpoint does not count is charged in full."""
    reserved = Charge(call.reserved_tokens, call.reserved_micros)
    spent = reserved
    if reply.prompt_tokens is not None and reply.completion_tokens is not None:
        spent = budget.charge_of(run, reply.prompt_tokens, reply.completion_tokens)
    with transaction.atomic():
        claim.renew()
        _end(
            call,
            state=State.RECORDED,
            reply=bounded(reply.text, LONGEST_REPLY),
            finish=bounded(reply.finish),
            prompt_tokens=reply.prompt_tokens,
            completion_tokens=reply.completion_tokens,
            charged_tokens=spent.tokens,
            charged_micros=spent.micros,
            seconds=seconds,
        )
        budget.settle(run, reserved=reserved, spent=spent)
    call.refresh_from_db()
    return call


def _end_without_reply(call: Call, run: GenerationRun, claim: Claim, problem: str, *, charged: bool) -> None:
    """Keep why there is no reply; what the endpoint may have worked on stays charged in full."""
    with transaction.atomic():
        claim.renew()
        if charged:
            _end(call, state=State.LOST, problem=bounded(problem))
        else:
            _end(call, state=State.REFUSED, problem=bounded(problem), charged_tokens=0, charged_micros=0)
            reserved = Charge(call.reserved_tokens, call.reserved_micros)
            budget.settle(run, reserved=reserved, spent=Charge(0, 0))


def _end(call: Call, **changes: Any) -> None:
    """Bring a call that was sent to its end. Raises ClaimLost where somebody took it for lost meanwhile."""
    if not Call.objects.filter(pk=call.pk, state=State.SENT).update(ended_at=Now(), **changes):
        raise ClaimLost(call.pk)


def _give_up_sent(fragment: Fragment, number: int, claim: Claim) -> None:
    """Take what another worker sent and never recorded for lost; it is charged in full already."""
    with transaction.atomic():
        claim.renew()
        Call.objects.filter(fragment=fragment, number=number, state=State.SENT).update(
            state=State.LOST, problem=LOST, ended_at=Now()
        )


def _waiting(claim: Claim) -> Callable[[float], None]:
    """Return how to wait between two tries: in pieces, the claim held, and not when this process ends."""

    def wait(seconds: float) -> None:
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            if boxes.closing():
                raise boxes.Closing
            time.sleep(min(left, LOOK_SECONDS))
        claim.renew()

    return wait
