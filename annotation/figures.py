"""FIGURES: rates as lines of a forest plot and in words, for the pages of studies and releases; pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from annotation.study.intervals import Rate
from annotation.study.rates import VERSIONS_NOT_CLUSTERED, Figure


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a forest: positions 0 to 100, None where undefined, and the words beside them."""

    label: str
    n: str
    point: float | None
    low: float | None
    high: float | None
    outer_low: float | None
    outer_high: float | None
    more: str
    left_out: str = ""


def line(
    label: str,
    rate: Rate,
    denominator: str,
    exclusions: Mapping[str, int] | None = None,
    *,
    brief: bool = False,
) -> Line:
    """Return the line of a rate; `more` says what the interval over annotators is, or why (not `brief`) there is none."""
    wilson, cluster = rate.wilson, rate.cluster
    return Line(
        label=label,
        n=f"{rate.count} of {rate.total} {denominator}",
        point=_position(rate.share),
        low=_position(wilson.low) if wilson else None,
        high=_position(wilson.high) if wilson else None,
        outer_low=_position(cluster.low) if cluster else None,
        outer_high=_position(cluster.high) if cluster else None,
        more=_over_annotators(
            (cluster.low, cluster.high) if cluster else None, rate.cluster_reason if rate.total else "", brief
        ),
        left_out=in_words(exclusions or {}),
    )


def line_of(figure: Figure, *, brief: bool = False) -> Line:
    """Return the line of a study's figure."""
    return line(figure.name, figure.rate, figure.denominator, figure.exclusions, brief=brief)


def line_of_json(figure: Mapping[str, Any]) -> Line:
    """Return the line of a figure as a manifest keeps it (`HumanFigure.as_json`)."""
    low, high = figure["wilson"] or (None, None)
    outer_low, outer_high = figure["cluster"] or (None, None)
    return Line(
        label=figure["name"],
        n=f"{figure['count']} of {figure['total']} {figure['denominator']}",
        point=_position(figure["count"] / figure["total"] if figure["total"] else None),
        low=_position(low),
        high=_position(high),
        outer_low=_position(outer_low),
        outer_high=_position(outer_high),
        more=_over_annotators(figure["cluster"], figure["cluster_reason"] if figure["total"] else ""),
        left_out=in_words(figure["exclusions"]),
    )


def in_words(exclusions: Mapping[str, int]) -> str:
    """Return what was left out: "2 still open, 1 knew it already"; "" for nothing."""
    return ", ".join(f"{number} {reason}" for reason, number in exclusions.items())


def _position(share: float | None) -> float | None:
    return None if share is None else 100 * share


def _over_annotators(interval: Any, reason: str, brief: bool = False) -> str:
    """Return the interval over annotators in words; nothing where it does not apply, as to versions."""
    if interval:
        return f"over annotators {100 * interval[0]:.0f} to {100 * interval[1]:.0f}"
    if not reason or reason == VERSIONS_NOT_CLUSTERED:
        return ""
    return "over annotators undefined" if brief else f"over annotators undefined: {reason}"
