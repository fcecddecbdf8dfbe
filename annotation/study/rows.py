"""STUDY: the plain row every figure is computed from, and which rows count; pure."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

STILL_OPEN = "still open"
INTERRUPTED = "interrupted by our fault"
EXTRA = "extra attempt, beyond the k of the protocol"


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptRow:
    """One attempt as the study sees it.

    ``solved`` is by execution of everything, never by what was said. ``solved_at_submission`` is 1 for the
    first, None where unsolved. ``outcome`` and ``difficulty`` are the annotator's own words from the verdict,
    None before one. ``interrupted`` means ended by us (outage, aborted session). ``excluded_reason`` is "" or
    the protocol's rule that leaves the attempt out of every figure. ``extra`` attempts were made beyond the k
    places of the version. ``active_seconds`` is active plus reading, None where no time was recorded, and
    ``counted_under`` the same by other idle limits in seconds, where it was asked for. ``arm`` is the help the attempt
    might use, ``protocol`` the number of the protocol under which it began.
    """

    version_id: int
    example: str
    annotator: int
    pseudonym: str
    outcome: str | None
    closed: bool
    solved: bool
    solved_at_submission: int | None
    difficulty: str | None
    active_seconds: float | None
    interrupted: bool = False
    excluded_reason: str = ""
    extra: bool = False
    arm: str = "none"
    protocol: int = 1
    counted_under: Mapping[int, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Counted:
    """The rows that count, and how many were left out by reason, reasons in alphabetical order."""

    rows: tuple[AttemptRow, ...]
    exclusions: Mapping[str, int]


def leave_out_protocol(rows: Iterable[AttemptRow]) -> Counted:
    """Return the rows left by the protocol: without excluded and extra ones. Open and interrupted attempts
    stay in."""
    return _sift((row, row.excluded_reason or (EXTRA if row.extra else "")) for row in rows)


def leave_out_unfinished(rows: Iterable[AttemptRow]) -> Counted:
    """Return the rows a rate is made of: closed by the annotator, and neither excluded nor extra nor
    interrupted.

    An attempt we broke off says nothing about the person; one that was solved before counts.
    """
    return _sift((row, _why_left_out(row)) for row in rows)


def tally(reasons: Iterable[str]) -> dict[str, int]:
    """Return how often each reason stands, in alphabetical order."""
    return dict(sorted(Counter(reasons).items()))


def _why_left_out(row: AttemptRow) -> str:
    if row.excluded_reason:
        return row.excluded_reason
    if row.extra:
        return EXTRA
    if row.interrupted and not row.solved:
        return INTERRUPTED
    return "" if row.closed else STILL_OPEN


def _sift(judged: Iterable[tuple[AttemptRow, str]]) -> Counted:
    pairs = list(judged)
    return Counted(
        tuple(row for row, reason in pairs if not reason), tally(reason for _, reason in pairs if reason)
    )
