"""EVALUATE: each reply of a file finds its version and its number there, or is a problem that says what helps."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from examples.evaluation.answers import Given, Reply, Unusable
from examples.importing.base import Problem
from examples.models import Version


@dataclass
class Incoming:
    """What an import did, or would do: records read, samples added or there already, and what could not come in."""

    read: int = 0
    added: int = 0
    unchanged: int = 0
    problems: list[Problem] = field(default_factory=list)

    @property
    def refused(self) -> bool:
        """Whether nothing of the file could come in."""
        return not self.added and not self.unchanged


class Placed(NamedTuple):
    """A reply that has found its version and its number there, and the record it came with."""

    version: int
    number: int
    reply: Reply
    record: Given

    @property
    def reply_hash(self) -> str:
        """The sha256 of the reply's UTF-8, in hex."""
        return hashlib.sha256(self.reply.text.encode()).hexdigest()


def place(
    records: Iterable[Given | Unusable], versions: Sequence[Version], incoming: Incoming
) -> Iterator[Placed]:
    """Yield each reply with its version and number; count records and note problems in `incoming`."""
    by_key = {version.example.key: version.pk for version in versions}
    by_key |= {version.example.label: version.pk for version in versions}
    by_prompt = {prompt_of(version): version.pk for version in versions}
    taken = Counter[int]()
    for record in records:
        if isinstance(record, Unusable):
            incoming.read += bool(record.problem.number)
            incoming.problems.append(record.problem)
            if record.key in by_key:
                taken[by_key[record.key]] += 1
            continue
        incoming.read += 1
        version = by_key.get(record.key) if record.key else by_prompt.get(record.prompt.strip())
        if version is None:
            incoming.problems.append(_unknown(record))
            continue
        for at, reply in enumerate(record.replies):
            taken[version] += 1
            number = taken[version] if record.first is None else record.first + at
            yield Placed(version, number, reply, record)


def prompt_of(version: Version) -> str:
    """Return what stands before the version's gap, blanks around it taken off: the prompt, where a prompt is all there is."""
    return version.context.encode()[: version.gap].decode().strip()


def _unknown(record: Given) -> Problem:
    if record.key:
        message, at = f"{record.key!r} names no example of the evaluation", "key"
    else:
        message, at = f"no example of the evaluation begins with {record.prompt.strip()[:60]!r}", "prompt"
    remedy = (
        "Import its example and let its checks pass before the evaluation is made, or leave the record out."
    )
    return Problem(record.number, record.line, at, message, remedy)
