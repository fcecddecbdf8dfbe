"""BUDGET: what a call may cost at most is charged before it is sent, by one conditional UPDATE; the rest comes back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from django.db.models import F, Q

from examples.models import GenerationRun

MILLION = 10**6
# What chat templates put around each message, generously.
AROUND_A_MESSAGE = 16


class BudgetSpent(Exception):
    """The next call might cost more than is left; the message says of what."""


class Charge(NamedTuple):
    """Tokens, and millionths of the run's currency."""

    tokens: int
    micros: int


def at_most(run: GenerationRun, request: Mapping[str, Any]) -> Charge:
    """Return what a request can cost at most: its prompt, and max_tokens of reply.

    A tokenizer of bytes makes no more tokens than the text has bytes in UTF-8, so nothing is estimated too low.
    """
    prompt = sum(
        len(each["content"].encode()) + len(json.dumps(each["role"])) + AROUND_A_MESSAGE
        for each in request["messages"]
    )
    return charge_of(run, prompt, int(request["max_tokens"]))


def charge_of(run: GenerationRun, prompt_tokens: int, completion_tokens: int) -> Charge:
    """Return what so many tokens cost, rounded up to a whole millionth."""
    price = prompt_tokens * run.prompt_micros + completion_tokens * run.completion_micros
    return Charge(prompt_tokens + completion_tokens, -(-price // MILLION))


def reserve(run: GenerationRun, charge: Charge) -> None:
    """Charge it to the run, in the caller's transaction. Raises BudgetSpent where the budget would not hold."""
    room = Q(budget_tokens=None) | Q(charged_tokens__lte=F("budget_tokens") - charge.tokens)
    purse = Q(budget_micros=None) | Q(charged_micros__lte=F("budget_micros") - charge.micros)
    taken = GenerationRun.objects.filter(room, purse, pk=run.pk).update(
        charged_tokens=F("charged_tokens") + charge.tokens, charged_micros=F("charged_micros") + charge.micros
    )
    if not taken:
        raise BudgetSpent(_told(GenerationRun.objects.get(pk=run.pk), charge))


def settle(run: GenerationRun, *, reserved: Charge, spent: Charge) -> None:
    """Put what was spent in the place of what was reserved, in the caller's transaction."""
    GenerationRun.objects.filter(pk=run.pk).update(
        charged_tokens=F("charged_tokens") + (spent.tokens - reserved.tokens),
        charged_micros=F("charged_micros") + (spent.micros - reserved.micros),
    )


def _told(run: GenerationRun, charge: Charge) -> str:
    if run.budget_tokens is not None and run.charged_tokens + charge.tokens > run.budget_tokens:
        left = run.budget_tokens - run.charged_tokens
        what = f"{left} of {run.budget_tokens} tokens are left, and the next call may take {charge.tokens}"
    else:
        budget = run.budget_micros or 0
        left = budget - run.charged_micros
        what = (
            f"{left / MILLION:.6f} of {budget / MILLION:.2f} is left, "
            f"and the next call may cost {charge.micros / MILLION:.6f}"
        )
    return f"The budget is spent: {what}. Raise it and resume the run."
