"""ASSIGN, the pure part: in which order each person is offered the versions of a study.

The plan is a preference, not a promise: a slot is taken by one conditional UPDATE elsewhere, which passes over what is no
longer free. Each order names every version once, so nobody is planned twice on one.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import NamedTuple


def plan(versions: Iterable[int], people: Sequence[int], *, k: int, seed: int) -> dict[int, tuple[int, ...]]:
    """Return for each person all versions in the order in which to offer them.

    ``people`` stand in the order in which they joined: an order depends only on how many joined before, so that adding a
    person at the end changes nobody else's. The same arguments give the same plan; the order of ``versions`` does not matter.

    Balanced: the versions, shuffled, are halved again and again, and each person goes through one half before the other,
    whichever had fewer turns so far for its size, in every half of every half (a rotor, as in the van der Corput sequence).
    So the first n of all orders together hold each version about equally often, for every n. Connected: where a version has
    room for two (``k`` >= 2), the second version of each person is the first of the person before, which chains all who
    have made two attempts, so that people and versions can be compared on one scale. (The first person's second is the
    version that comes first for nobody until all others have, so that it takes no link out of the chain.)
    Raises ValueError for a person or version named twice, or k < 1.
    """
    if k < 1:
        raise ValueError(f"{k} solvers for each version leave nothing to plan.")
    pool = sorted(_distinct(list(versions)), key=lambda version: _draw(seed, "version", version))
    if not pool:
        return dict.fromkeys(_distinct(people), ())
    turns: Counter[_Part] = Counter()
    orders: dict[int, tuple[int, ...]] = {}
    link = _last_to_lead(pool, seed)
    for person in _distinct(people):
        order = _deal(pool, turns, seed)
        orders[person] = tuple(_with_second(order, link) if k >= 2 else order)
        link = order[0]
    return orders


def take_in_turns(orders: Mapping[int, Sequence[int]], *, k: int) -> list[tuple[int, int]]:
    """Return the (person, version) pairs, in order, if people took turns and each took the first version still free.

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


def is_connected(pairs: Iterable[tuple[int, int]]) -> bool:
    """Return whether the graph of people and versions with an edge for each (person, version) is in one piece.

    Otherwise the people of one piece cannot be compared with those of another. True without any pair.
    """
    neighbours: dict[tuple[str, int], list[tuple[str, int]]] = defaultdict(list)
    for person, version in pairs:
        neighbours["person", person].append(("version", version))
        neighbours["version", version].append(("person", person))
    reached = set(list(neighbours)[:1])
    border = list(reached)
    while border:
        fresh = set(neighbours[border.pop()]) - reached
        reached |= fresh
        border += fresh
    return len(reached) == len(neighbours)


def _with_second(order: list[int], version: int) -> list[int]:
    """Return the order with the version moved to second place, or as it is where the version comes first."""
    if order[0] == version:
        return order
    rest = [other for other in order if other != version]
    return [rest[0], version, *rest[1:]]


class _Part(NamedTuple):
    """The versions from ``start`` to ``stop`` in the pool, and the place in the order at which they are reached.

    A place has a digit for each halving: 0 for the half that came first, 1 for the other.
    """

    place: str
    start: int
    stop: int


def _deal(pool: Sequence[int], turns: Counter[_Part], seed: int) -> list[int]:
    """Return the next order over the pool, and count in ``turns`` which half of each half came first."""
    order: list[int] = []
    rest = [_Part("", 0, len(pool))]
    while rest:
        part = rest.pop()
        if part.stop - part.start < 2:
            order += pool[part.start : part.stop]
        else:
            first, then = _halve(part, turns, seed)
            rest += [then, first]
    return order


def _halve(part: _Part, turns: Counter[_Part], seed: int) -> tuple[_Part, _Part]:
    """Return the half whose turn it is and the other, and count the turn; a coin decides between equals.

    Turns go by size as seats go by votes (the divisors 1, 2, 3 ... of D'Hondt), so that after as many turns as there are
    versions each half had as many as its own. They are counted for each place apart: that a half came first among the
    first says nothing about it among the last.
    """
    middle = (part.start + part.stop) // 2
    left, right = part._replace(stop=middle), part._replace(start=middle)
    left_load, right_load = (
        (turns[left] + 1) * (part.stop - middle),
        (turns[right] + 1) * (middle - part.start),
    )
    coin = _draw(seed, *part, turns[left] + turns[right])[0] % 2
    first, then = (left, right) if (left_load, coin) < (right_load, 1) else (right, left)
    turns[first] += 1
    return first._replace(place=part.place + "0"), then._replace(place=part.place + "1")


def _last_to_lead(pool: Sequence[int], seed: int) -> int:
    """Return the version that stands first in the order of the last of as many people as there are versions."""
    turns: Counter[_Part] = Counter()
    for _ in pool:
        part = _Part("", 0, len(pool))
        while part.stop - part.start > 1:
            part, _then = _halve(part, turns, seed)
    return pool[part.start]


def _draw(seed: int, *what: int | str) -> bytes:
    """Return bytes as good as random, the same for the same arguments on every machine and in every Python."""
    return sha256(f"{seed}:{what}".encode()).digest()


def _distinct(ids: Sequence[int]) -> Sequence[int]:
    if len(set(ids)) < len(ids):
        raise ValueError("A person or version is named twice.")
    return ids
