"""What people found out about versions, as the gate and the manifest take it; `annotation` knows it and hands it in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from django.db.models import QuerySet

from examples.models import Version


@dataclass(frozen=True, slots=True)
class StudyCount:
    """How far a study is with a version: closed attempts of the k it asks for."""

    study: str
    closed: int
    wanted: int


@dataclass(frozen=True, slots=True)
class HumanEvidence:
    """What people say of one version.

    studies      each study that has the version
    independent  closed attempts solved by execution, by people who neither wrote the version nor knew it already
    decision     the curator's latest decision ("" when none), its reason, and whether it says "solvable as it stands"
    disputes     complaints that nobody has decided on since: who (pseudonym) and what, one sentence each
    """

    studies: tuple[StudyCount, ...] = ()
    independent: int = 0
    decision: str = ""
    decision_reason: str = ""
    found_solvable: bool = False
    disputes: tuple[str, ...] = ()


NOBODY = HumanEvidence()


@dataclass(frozen=True, slots=True)
class HumanFigure:
    """A rate with its denominator, exclusions and 95 % intervals (0 to 1), None where undefined, with the reason."""

    name: str
    count: int
    total: int
    denominator: str
    wilson: tuple[float, float] | None
    cluster: tuple[float, float] | None
    cluster_reason: str
    exclusions: Mapping[str, int]

    def as_json(self) -> dict[str, Any]:
        """Return the figure as plain JSON values."""
        return asdict(self)


class HumanRecord(Protocol):
    """Who knows what people did; `annotation.evidence` is the one in the product."""

    def evidence(self, versions: QuerySet[Version]) -> Mapping[int, HumanEvidence]:
        """Return the evidence by version id, in a fixed number of queries; versions nobody met may be missing."""
        ...

    def figures(self, versions: QuerySet[Version]) -> Sequence[HumanFigure]:
        """Return the rates over the versions."""
        ...
