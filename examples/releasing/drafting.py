"""RELEASE: make a draft, change it, throw it away."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from examples.models import Release, ReleaseItem, Split, Version, audit
from examples.releasing.numbering import must_grow
from examples.releasing.splitting import Placeable, assign_splits

BATCH = 200


class DraftRefused(ValueError):
    """No such draft can be made, or it is no draft any more; the message says why."""


@dataclass(frozen=True, slots=True)
class SplitPlan:
    """A split to be made: its name, its share of the versions (0 to 1), and whether it is kept private."""

    name: str
    share: float
    held_out: bool = False


@dataclass(frozen=True, slots=True)
class DraftPlan:
    """Everything that decides a draft, but the versions."""

    name: str
    number: str
    seed: int
    splits: Sequence[SplitPlan]
    licence: str = ""
    notes: str = ""


def draft_release(plan: DraftPlan, *, versions: QuerySet[Version], by: Any) -> Release:
    """Return a new draft of the versions, each in its split; repositories of an earlier release keep theirs.

    Raises DraftRefused (taken number, no version, a split twice), NumberRefused or SharesRefused.
    """
    published = Release.objects.frozen().filter(name=plan.name)
    must_grow(plan.number, published.values_list("number", flat=True))
    if len({split.name for split in plan.splits}) != len(plan.splits):
        raise DraftRefused("Two splits have the same name.")
    items = _placeable(versions)
    if not items:
        raise DraftRefused("No version fits this selection.")
    chosen = assign_splits(
        items,
        shares={split.name: split.share for split in plan.splits},
        seed=plan.seed,
        placed=_placed_before(plan.name),
    )
    release, splits = _shell(plan, by)
    try:
        _fill(release, splits, items, chosen)
    except BaseException:
        release.delete()
        raise
    audit(by, "release drafted", f"release:{release.pk}", name=str(release), versions=len(items))
    return release


def leave_out(release: Release, *, versions: Collection[int], by: Any) -> int:
    """Take versions out of a draft and return how many; the splits of the others stay. Raises DraftRefused."""
    left_out = 0
    with transaction.atomic():
        lock_draft(release)
        for ids in batched(sorted(versions), BATCH):
            left_out += release.items.filter(version_id__in=ids).delete()[0]
        audit(by, "release versions left out", f"release:{release.pk}", versions=sorted(versions))
    return left_out


def discard(release: Release, *, by: Any) -> None:
    """Delete a draft. Raises DraftRefused for a frozen release."""
    with transaction.atomic():
        lock_draft(release)
        audit(by, "release draft discarded", f"release:{release.pk}", name=str(release))
        release.delete()


def lock_draft(release: Release) -> None:
    """Hold the draft until the transaction ends, so that nobody changes or freezes it meanwhile. Raises DraftRefused."""
    found = Release.objects.select_for_update().filter(pk=release.pk).first()
    if found is None:
        raise DraftRefused(f"{release} is gone: somebody has discarded the draft.")
    if found.state == Release.State.FROZEN:
        raise DraftRefused(f"{release} is frozen already: somebody was faster.")


def batched(values: Sequence[int], size: int) -> Iterable[Sequence[int]]:
    """Return the values in slices of at most `size`."""
    return (values[at : at + size] for at in range(0, len(values), size))


def _placeable(versions: QuerySet[Version]) -> list[Placeable]:
    rows = versions.order_by("example_id", "number").values_list("pk", "example_id", "example__repository")
    return [Placeable(*row) for row in rows.distinct()]


def _placed_before(name: str) -> dict[str, str]:
    """Return the split of each group in the newest frozen release of the name."""
    newest = Release.objects.frozen().filter(name=name).order_by("-frozen_at").first()
    if newest is None:
        return {}
    rows = newest.items.values_list(
        "version_id", "version__example_id", "version__example__repository", "split__name"
    )
    return {Placeable(pk, example, repository).group: split for pk, example, repository, split in rows}


def _shell(plan: DraftPlan, by: Any) -> tuple[Release, dict[str, Split]]:
    """Return the release and its splits by name, still empty; the canary is drawn once, here."""
    try:
        with transaction.atomic():
            release = Release.objects.create(
                name=plan.name,
                number=plan.number,
                seed=plan.seed,
                licence=plan.licence,
                notes=plan.notes,
                canary=f"benchwright canary {secrets.token_hex(16)}: benchmark data, not for training",
                created_by=by,
            )
            splits = {
                each.name: Split.objects.create(
                    release=release, name=each.name, share=each.share, held_out=each.held_out
                )
                for each in plan.splits
                if each.share > 0
            }
    except IntegrityError as error:
        raise DraftRefused(f"{plan.name} {plan.number} exists already.") from error
    return release, splits


def _fill(
    release: Release, splits: dict[str, Split], items: Sequence[Placeable], chosen: dict[int, str]
) -> None:
    """Write the items in batches, split by split, each in order of example."""
    order = {name: at for at, name in enumerate(splits)}
    ordered = sorted(items, key=lambda item: order[chosen[item.version_id]])
    rows = [
        ReleaseItem(
            release=release, split=splits[chosen[item.version_id]], version_id=item.version_id, position=at
        )
        for at, item in enumerate(ordered, 1)
    ]
    for at in range(0, len(rows), BATCH):
        ReleaseItem.objects.bulk_create(rows[at : at + BATCH])
