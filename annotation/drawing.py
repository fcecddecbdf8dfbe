"""STUDY: draw the versions of a draft by seed, in proportion to strata, and write into its protocol what was drawn."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from annotation.models import Protocol, Study, User, Verdict
from annotation.sampling import Stratum, stratified
from annotation.studies import Choice, StudyRefused, add_versions
from examples.models import Example, Version, audit

BY = {
    "dataset": "dataset",
    "language": "language",
    "library": "libraries it imports",
    "difficulty": "difficulty said in earlier studies",
}
NO_LIBRARY, UNRATED = "none", "not rated yet"
BATCH = 5000  # SQLite takes 32,766 values in a query


@dataclass(frozen=True)
class Drawn:
    """A sample: its versions, and a row for each stratum with its values, how many it holds and how many were drawn."""

    versions: tuple[int, ...]
    parts: tuple[dict[str, Any], ...]


def draw(choice: Choice, *, size: int, by: Sequence[str], seed: int) -> Drawn:
    """Return a sample of the fit versions, stratified by the named things. Raises StudyRefused for a size out of reach."""
    if not 1 <= size <= len(choice.versions):
        raise StudyRefused(
            f"{size} versions cannot be drawn: {len(choice.versions)} of those that match are fit for a study. Draw fewer, "
            "or widen the filter."
        )
    strata: dict[Stratum, list[int]] = defaultdict(list)
    for version, stratum in _strata(choice.versions, by).items():
        strata[stratum].append(version)
    drawn = stratified(strata, size, seed=seed)
    parts = tuple(
        {**dict(zip(by, stratum, strict=True)), "of": len(strata[stratum]), "drawn": len(drawn[stratum])}
        for stratum in sorted(strata)
    )
    return Drawn(tuple(sorted(one for ids in drawn.values() for one in ids)), parts)


def draw_versions(study: Study, choice: Choice, *, size: int, by: Sequence[str], person: User) -> Drawn:
    """Replace the versions of a draft by a sample with its protocol's seed, and return it. Raises StudyRefused."""
    if study.state != Study.State.DRAFT:
        raise StudyRefused(
            "The sample was drawn before the study opened; versions can still be added, not drawn anew."
        )
    drawn = draw(choice, size=size, by=by, seed=study.protocol.seed)
    with transaction.atomic():
        study.slots.all().delete()
        add_versions(study, Choice(drawn.versions, choice.refused), by=person)
        note_sample(study, size=size, parts=drawn.parts)
        audit(
            person,
            "draw versions",
            f"study:{study.pk}",
            size=size,
            of=len(choice.versions),
            by=list(by),
            seed=study.protocol.seed,
        )
    return drawn


def note_sample(study: Study, *, size: int | None, parts: Iterable[dict[str, Any]]) -> None:
    """Write into the draft of the protocol how its versions were found: drawn, or (None, nothing) chosen by hand."""
    Protocol.objects.filter(study=study, frozen_at=None, number=1).update(
        sample_size=size, strata=list(parts)
    )
    study.refresh_from_db()


def _strata(versions: Sequence[int], by: Sequence[str]) -> dict[int, Stratum]:
    """Return the stratum of each version: its value of each thing, in that order. Raises KeyError for an unknown thing."""
    found: dict[int, Stratum] = {}
    for start in range(0, len(versions), BATCH):
        found |= _strata_of(versions[start : start + BATCH], by)
    return found


def _strata_of(versions: Sequence[int], by: Sequence[str]) -> dict[int, Stratum]:
    rows = Version.objects.filter(pk__in=versions)
    values = dict(rows.values_list("pk", "example_id"))
    read = {
        "dataset": lambda: dict(rows.values_list("pk", "example__dataset__name")),
        "language": lambda: dict(rows.values_list("pk", "language")),
        "library": lambda: _libraries(values),
        "difficulty": lambda: _difficulties(values),
    }
    columns = [read[name]() for name in by]
    return {version: tuple(column[version] for column in columns) for version in versions}


def _libraries(examples: dict[int, int]) -> dict[int, str]:
    """Return the names of all libraries of each version's example, joined."""
    found: dict[int, list[str]] = defaultdict(list)
    through = Example.libraries.through.objects.filter(example__in=set(examples.values()))
    for example, name in through.order_by("library__name").values_list("example_id", "library__name"):
        found[example].append(name)
    return {version: ", ".join(found[example]) or NO_LIBRARY for version, example in examples.items()}


def _difficulties(examples: dict[int, int]) -> dict[int, str]:
    """Return the level said most often of each version's example; of equals the first by name."""
    said: dict[int, Counter[str]] = defaultdict(Counter)
    verdicts = Verdict.objects.filter(attempt__slot__version__example__in=set(examples.values()))
    for example, level in verdicts.values_list("attempt__slot__version__example_id", "difficulty"):
        said[example][level] += 1
    most = {
        example: min(levels, key=lambda level: (-levels[level], level)) for example, levels in said.items()
    }
    return {version: most.get(example, UNRATED) for version, example in examples.items()}
