"""ADJUDICATE: the distinct solutions that are recorded for a version, with who wrote them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from django.db.models import F, OuterRef, Q, QuerySet, Subquery

from annotation.models import Run
from examples.models import Alternative, Version

# What of a version is long and not needed to say whose a solution is.
TEXTS = ("instruction", "context", "reference", "segments", "block")
SUBMISSION, LAST_RUN, ALTERNATIVE = "submission", "last run, never submitted", "accepted alternative"


@dataclass
class Recorded:
    """A distinct solution: its code, by whom (pseudonyms, none for an alternative from elsewhere), from what.

    `attempts` are those it is from, `origins` what it was there.
    """

    sha256: str
    function: str
    module: str
    people: list[str] = field(default_factory=list)
    origins: list[str] = field(default_factory=list)
    attempts: list[int] = field(default_factory=list)

    @property
    def source(self) -> str:
        """The code as one text: imports and helpers first."""
        return f"{self.module.rstrip()}\n\n\n{self.function}" if self.module.strip() else self.function

    def add(self, person: str, origin: str, attempt: int | None) -> None:
        """Note that somebody wrote it as well."""
        if person and person not in self.people:
            self.people.append(person)
        if origin not in self.origins:
            self.origins.append(origin)
        if attempt is not None and attempt not in self.attempts:
            self.attempts.append(attempt)


def same_task(version: Version) -> QuerySet[Version]:
    """Return the versions of the example that ask the same of a solver: instruction and context byte for byte."""
    return Version.objects.filter(
        example=version.example_id,
        instruction=version.instruction,
        context=version.context,
        gap=version.gap,
    )


def recorded(version: Version) -> list[Recorded]:
    """Return all that was written for a version's task, submissions first, oldest first, in two queries.

    Of an attempt that no submission of which passed, its last run too, since that is how far it came. What was written
    for another version counts where instruction and context were the same.
    """
    task = same_task(version)
    found: dict[str, Recorded] = {}
    for run in counted(runs_at(task)):
        origin = SUBMISSION if run.kind == Run.Kind.SUBMISSION else LAST_RUN
        one = found.setdefault(run.sha256, Recorded(run.sha256, run.function, run.module))
        one.add(run.attempt.annotator.pseudonym, origin, run.attempt_id)
    for each in Alternative.objects.standing().filter(example=version.example_id):
        one = found.setdefault(each.sha256, Recorded(each.sha256, each.function, each.module))
        one.add("", ALTERNATIVE, None)
    return sorted(found.values(), key=lambda each: each.origins[0] != SUBMISSION)


def runs_at(versions: QuerySet[Version]) -> QuerySet[Run]:
    """Return the submissions of all attempts at the versions, and the last run of each."""
    last = Run.objects.filter(attempt=OuterRef("attempt")).order_by("-number").values("number")[:1]
    return (
        Run.objects.filter(attempt__slot__version__in=versions.order_by().values("pk"))
        .alias(last=Subquery(last))
        .filter(Q(kind=Run.Kind.SUBMISSION) | Q(number=F("last")))
        .select_related("attempt__annotator", "attempt__slot__version", "execution", "ruling")
        .defer("execution__job_data", "lines", *(f"attempt__slot__version__{text}" for text in TEXTS))
        .order_by("pk")
    )


def counted(runs: Iterable[Run]) -> list[Run]:
    """Return the runs without the last ones of attempts that were solved."""
    runs = list(runs)
    solved = {run.attempt_id for run in runs if run.kind == Run.Kind.SUBMISSION and run.passed}
    return [run for run in runs if run.kind == Run.Kind.SUBMISSION or run.attempt_id not in solved]
