"""ASSIGN: whether the people of a study can be compared with one another: by its plan, and by what has been done."""

from __future__ import annotations

from dataclasses import dataclass

from annotation.models import COUNTED, Attempt, Study
from annotation.plan import must_be_connected, pieces, plan, take_in_turns

LARGEST_PLAN = 40_000  # people times versions, and closed attempts: beyond it a page would wait too long


@dataclass(frozen=True)
class Group:
    """People who share versions, directly or over others: their pseudonyms, and how many versions they have."""

    people: tuple[str, ...]
    versions: int


@dataclass(frozen=True)
class Connection:
    """The pieces of the graph of people and versions.

    planned    pieces if all work at one pace, so 1 is connected; None where that was not played through
    certain    the size alone makes the plan connected, whatever the seed
    done       what the closed attempts join; more than one group cannot be compared
    """

    solvers: int
    planned: int | None
    certain: bool
    done: tuple[Group, ...]

    @property
    def holds(self) -> bool:
        """Whether the plan is in one piece."""
        return self.certain or self.planned == 1

    @property
    def why_not(self) -> str:
        """Return what keeps the plan apart, and what helps; "" where nothing does."""
        if self.holds:
            return ""
        if self.solvers == 1:
            return "With k = 1 no two people meet the same version. Raise k to 2."
        return "There are too many people for so few places. Add versions, raise k, or take people out."


def connection_of(study: Study) -> Connection:
    """Return how the study's people and versions hang together, in three queries."""
    slots = study.slots.filter(kind__in=COUNTED)
    versions = list(slots.order_by("version").values_list("version", flat=True).distinct())
    people = dict(study.people.filter(active=True).order_by("pk").values_list("person", "person__pseudonym"))
    protocol = study.protocol
    certain = must_be_connected(len(versions), len(people), k=protocol.solvers)
    planned = None
    if not certain and len(versions) * len(people) <= LARGEST_PLAN:
        orders = plan(versions, list(people), k=protocol.solvers, seed=protocol.seed)
        planned = len(pieces(take_in_turns(orders, k=protocol.solvers)))
    return Connection(protocol.solvers, planned, certain, _done(study))


def _done(study: Study) -> tuple[Group, ...]:
    closed = Attempt.objects.filter(slot__study=study, state=Attempt.State.CLOSED).order_by()
    closed = closed.filter(slot__kind__in=COUNTED)
    rows = list(closed.values_list("annotator", "slot__version", "annotator__pseudonym")[:LARGEST_PLAN])
    names = {person: name for person, _, name in rows}
    found = pieces((person, version) for person, version, _ in rows)
    return tuple(
        Group(tuple(sorted(names[person] for person in piece.people)), len(piece.versions)) for piece in found
    )
