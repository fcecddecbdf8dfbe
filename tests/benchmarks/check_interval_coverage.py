"""How often nominal 95 % intervals hold the true solve rate, by number and spread of annotators.

    .venv/bin/python -m tests.benchmarks.check_interval_coverage [REPETITIONS]

Each item is solved once; an annotator's skill and an item's ease are normal on the logit scale (items SD 1.2)
around a mean solve rate of about 0.8. The truth is the rate of the whole population, of people and items not
drawn. Wilson falls short where annotators differ, the cluster interval holds; so the study page shows both.
"""

import sys
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from annotation.study.intervals import Interval, Rate, clustered_rate

ITEM_SD = 1.2
MEAN_LOGIT = 1.75


class Design(NamedTuple):
    """So many annotators with so many items each; ``spread`` is the SD of their skill in logits."""

    annotators: int
    items: int
    spread: float


DESIGNS = [
    Design(*each)
    for each in ((4, 16, 0.3), (4, 16, 0.8), (8, 8, 0.3), (8, 8, 0.8), (16, 4, 0.8), (8, 24, 0.8))
]


def true_rate(spread: float) -> float:
    """The solve rate of the population: the logistic mean over a normal, by Gauss-Hermite quadrature."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    logits = MEAN_LOGIT + nodes * np.hypot(spread, ITEM_SD)
    return float((weights / (1 + np.exp(-logits))).sum() / weights.sum())


def studies(design: Design, repetitions: int, seed: int) -> Iterator[Rate]:
    """The rates of simulated studies."""
    draw = np.random.default_rng(seed)
    for _ in range(repetitions):
        skill = draw.normal(0, design.spread, (design.annotators, 1))
        ease = draw.normal(MEAN_LOGIT, ITEM_SD, (design.annotators, design.items))
        solved = draw.random(ease.shape) < 1 / (1 + np.exp(-(skill + ease)))
        yield clustered_rate((who, bool(each)) for who, row in enumerate(solved) for each in row)


def coverage(intervals: list[Interval | None], truth: float) -> float:
    """The share of intervals that hold the truth; an undefined one does not count."""
    defined = [interval for interval in intervals if interval]
    return sum(interval.low <= truth <= interval.high for interval in defined) / len(defined)


def main(repetitions: int) -> None:
    """Print a line for each design."""
    print(f"{repetitions} studies each; coverage of nominal 95 % intervals")
    print("annotators x items, SD   truth   Wilson     cluster t")
    for number, design in enumerate(DESIGNS):
        truth = true_rate(design.spread)
        rates = list(studies(design, repetitions, seed=number))
        wilson = coverage([rate.wilson for rate in rates], truth)
        cluster = coverage([rate.cluster for rate in rates], truth)
        undefined = sum(rate.cluster is None for rate in rates)
        label = f"{design.annotators:2} x {design.items:2}, {design.spread}"
        print(f"{label:24} {truth:.3f}   {wilson:.3f}      {cluster:.3f}   ({undefined} undefined)")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1500)
