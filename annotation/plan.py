"""ASSIGN, the pure part: in which order each person is offered the versions of a study.

The plan is a preference, not a promise: a slot is taken by one conditional UPDATE elsewhere, which passes
over what is no longer free. Each order names every version once, so nobody is planned twice on one.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from itertools import chain
from typing import NamedTuple

GROUP = 4  # long enough to vary who comes before whom, short enough to keep the balance


def plan(versions: Iterable[int], people: Sequence[int], *, k: int, seed: int) -> dict[int, tuple[int, ...]]:
    """Return for each person all versions in the order in which to offer them.

    ``people`` stand in the order in which they joined: an order depends only on how many joined before, so
    that adding a person at the end changes nobody else's. The same arguments give the same plan; the order of
    ``versions`` does not matter.

    Balanced: the versions stand shuffled in a circle, each person goes once round it, and the starts are
    spread evenly (see ``_next_start``), so that the first n of all orders together hold each version about
    equally often, for every n. Within groups of ``GROUP`` each order is shuffled anew, lest everybody meets
    the same version before the same other.

    Connected: where a version has room for two (``k`` >= 2), the second version of each person is the first
    of the person before, which chains all who have made two attempts, so that people and versions can be
    compared on one scale. (The first person's second is the version that leads no order until all others
    have, so that it breaks no chain.)
    Raises ValueError for a person or version named twice, or k < 1.
    """
    if k < 1:
        raise ValueError(f"{k} solvers for each version leave nothing to plan.")
    circle = _shuffled(_distinct(sorted(versions)), seed, "circle")
    if not circle:
        return dict.fromkeys(_distinct(people), ())
    turns: Counter[_Arc] = Counter()
    orders: dict[int, tuple[int, ...]] = {}
    link = circle[_last_start(len(circle), seed)]
    for number, person in enumerate(_distinct(people)):
        start = _next_start(turns, len(circle), seed)
        order = _in_groups([*circle[start:], *circle[:start]], seed, number)
        orders[person] = tuple(_with_second(order, link) if k >= 2 else order)
        link = order[0]
    return orders


def take_in_turns(orders: Mapping[int, Sequence[int]], *, k: int) -> list[tuple[int, int]]:
    """Return the (person, version) pairs, in order, if people took turns to take their first free version.

    What the plan leads to when all work at one pace; the preview of a study and the tests look at it.
    """
    free = Counter({version: k for order in orders.values() for version in order})
    left = {person: iter(order) for person, order in orders.items()}
    taken: list[tuple[int, int]] = []
    while left:
        for person in list(left):
            version = next((version for version in left[person] if free[version]), None)
            if version is None:
                del left[person]
                continue
            free[version] -= 1
            taken.append((person, version))
    return taken


def arm_at(arms: Sequence[str], *, place: int, number: int, seed: int) -> str:
    """Return the arm of an attempt: on the slot ``number``, from 1, of the version at ``place``, from 0.

    ``place`` is when the version joined the study, so that one added later changes no other's arms. Over the slots
    of a version the arms take turns, and where they begin is drawn for as many versions at a time as there are
    arms, each beginning once: of every version, and of every slot number over the versions, any two arms have
    equally many attempts, or one more or less. Raises ValueError without arms.
    """
    if not arms:
        raise ValueError("A protocol has at least one arm.")
    block, at = divmod(place, len(arms))
    begins = _shuffled(range(len(arms)), seed, f"arms {block}")
    return arms[(begins[at] + number - 1) % len(arms)]


class Piece(NamedTuple):
    """People and versions that are joined by attempts, directly or over others; both ascending."""

    people: tuple[int, ...]
    versions: tuple[int, ...]


def pieces(pairs: Iterable[tuple[int, int]]) -> list[Piece]:
    """Return the pieces of the graph with an edge between person and version for each pair, the largest first.

    The people of one piece cannot be compared with those of another: that one solved more may lie in the versions.
    """
    neighbours: dict[tuple[str, int], list[tuple[str, int]]] = defaultdict(list)
    for person, version in pairs:
        neighbours["person", person].append(("version", version))
        neighbours["version", version].append(("person", person))
    unseen, found = dict.fromkeys(neighbours), []
    while unseen:
        border = [next(iter(unseen))]
        reached = set(border)
        while border:
            fresh = set(neighbours[border.pop()]) - reached
            reached |= fresh
            border += fresh
        for each in reached:
            del unseen[each]
        sides: dict[str, list[int]] = {"person": [], "version": []}
        for side, number in reached:
            sides[side].append(number)
        found.append(Piece(tuple(sorted(sides["person"])), tuple(sorted(sides["version"]))))
    return sorted(found, key=lambda piece: (-len(piece.people), -len(piece.versions), piece))


def is_connected(pairs: Iterable[tuple[int, int]]) -> bool:
    """Return whether the graph with an edge between person and version for each pair is in one piece.

    True without any pair.
    """
    return len(pieces(pairs)) <= 1


def must_be_connected(versions: int, people: int, *, k: int) -> bool:
    """Return whether a plan of this size is in one piece for certain when people take turns, whatever the seed.

    Each person's second version is the first of the person before, if there is room for two; a tree over all has
    ``versions + people - 1`` edges, and beyond that number of places nobody is left without such a link. Where it is
    False the plan may be connected or not: ``pieces(take_in_turns(...))`` says.
    """
    if people <= 1 or versions == 0:
        return True
    return k >= 2 and (people <= versions or versions * min(k, people) > versions + people - 1)


class _Arc(NamedTuple):
    """The places of the circle from ``start`` up to ``stop``."""

    start: int
    stop: int


def _next_start(turns: Counter[_Arc], length: int, seed: int) -> int:
    """Return the place at which the next person starts, and count the turns of the arcs it lies in.

    The circle is halved again and again; each time the half comes next that had fewer turns for its size,
    equals by a coin. Turns go by size as seats go by votes (divisors 1, 2, 3 ..., D'Hondt), so that after as
    many people as places each place had one. With sizes that are powers of 2 the starts are the van der
    Corput sequence, scrambled.
    """
    arc = _Arc(0, length)
    while arc.stop - arc.start > 1:
        middle = (arc.start + arc.stop) // 2
        left, right = arc._replace(stop=middle), arc._replace(start=middle)
        left_load, right_load = (
            (turns[left] + 1) * (arc.stop - middle),
            (turns[right] + 1) * (middle - arc.start),
        )
        coin = _draw(seed, *arc, turns[left] + turns[right])[0] % 2
        arc = left if (left_load, coin) < (right_load, 1) else right
        turns[arc] += 1
    return arc.start


def _last_start(length: int, seed: int) -> int:
    """Return where the last of as many people as places starts."""
    turns: Counter[_Arc] = Counter()
    return [_next_start(turns, length, seed) for _ in range(length)][-1]


def _in_groups(order: list[int], seed: int, number: int) -> list[int]:
    """Return the order with the first as it was, and the rest shuffled within groups of ``GROUP``."""
    groups = [order[at : at + GROUP] for at in range(1, len(order), GROUP)]
    return [order[0], *chain.from_iterable(_shuffled(group, seed, f"person {number}") for group in groups)]


def _with_second(order: list[int], version: int) -> list[int]:
    """Return the order with the version moved to second place, or as it is where the version comes first."""
    if order[0] == version:
        return order
    rest = [other for other in order if other != version]
    return [rest[0], version, *rest[1:]]


def _shuffled(versions: Sequence[int], seed: int, what: str) -> list[int]:
    return sorted(versions, key=lambda version: _draw(seed, what, version))


def _draw(seed: int, *what: int | str) -> bytes:
    """Return bytes as good as random, the same for the same arguments on every machine."""
    return sha256(f"{seed}:{what}".encode()).digest()


def _distinct(ids: Sequence[int]) -> Sequence[int]:
    if len(set(ids)) < len(ids):
        raise ValueError("A person or version is named twice.")
    return ids
