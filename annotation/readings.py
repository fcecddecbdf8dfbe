"""ADJUDICATE: what the decisions on a version amount to, where a second reader may have been asked for; pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol


class State(StrEnum):
    """How far a case is decided."""

    NONE = "not decided"
    WAITS = "waits for a second reader"
    DISAGREE = "two readers disagree"
    DECIDED = "decided"


class Decision(Protocol):
    """What is read of a decision; in the product it is an `Adjudication`."""

    @property
    def pk(self) -> int: ...
    @property
    def decided_by_id(self) -> int: ...
    @property
    def decision(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Standing:
    """What holds of a version: its state, the decision that holds (None where none does), and those that part."""

    state: State
    decision: Decision | None = None
    parting: tuple[Decision, ...] = ()

    @property
    def is_open(self) -> bool:
        """Whether a second reader is still needed."""
        return self.state in (State.WAITS, State.DISAGREE)


def standing(decisions: Sequence[Decision], *, second: bool = False, after: int | None = None) -> Standing:
    """Return what the decisions on a version amount to, given in their order.

    Without a second reader the last one holds. Where one was asked for (`second`), the decisions from `after` on count
    (its number; None: all), each person's latest: the last two people have to agree on what is decided.
    """
    if not second:
        return Standing(State.DECIDED, decisions[-1]) if decisions else Standing(State.NONE)
    latest = _latest_of_each(each for each in decisions if after is None or each.pk >= after)
    if len(latest) < 2:
        return Standing(State.WAITS, parting=tuple(latest))
    first, last = latest[-2:]
    if first.decision == last.decision:
        return Standing(State.DECIDED, last)
    return Standing(State.DISAGREE, parting=(first, last))


def _latest_of_each(decisions: Iterable[Decision]) -> list[Decision]:
    """Return each person's latest decision, in the order in which these were made."""
    latest: dict[int, Decision] = {}
    for each in decisions:
        latest.pop(each.decided_by_id, None)
        latest[each.decided_by_id] = each
    return list(latest.values())
