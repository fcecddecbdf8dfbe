"""EVALUATE: an evaluation's figures as lines for a terminal, the limit and the denominator beside each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from examples.evaluation.figures import gap, outcome_shares, pass_at_ks, usual_ks
from examples.evaluation.pass_at_k import Mean
from examples.evaluation.progress import progress
from examples.evaluation.rows import tallies
from examples.models import Evaluation, ModelSample
from runner.sandbox.base import Limits


def report_lines(evaluation: Evaluation, *, ks: Sequence[int] | None = None) -> Iterator[str]:
    """Yield the model and the limit, how the samples stand, pass@k, outcomes, runs against right, and recorded verdicts."""
    found = tallies(evaluation)
    now = progress(evaluation)
    yield f"{evaluation.model_name} over {len(found):,} examples; limit {limit_text(evaluation)}"
    yield (
        f"{now.judged:,} of {now.samples:,} samples judged, {now.unjudged:,} unjudged, "
        f"{now.open + now.waiting:,} left"
    )
    for k, value in pass_at_ks(found, ks or usual_ks(found)):
        yield f"pass@{k:<4} {mean_text(value)}"
    for share in outcome_shares(found):
        yield f"{share.outcome:24}{share.count:>8,} {share.share:8.2%}"
    apart = gap(found)
    yield f"runs {mean_text(apart.runs)}"
    yield f"runs less right {mean_text(apart.gap)}"
    yield from recorded_lines(evaluation)


def recorded_lines(evaluation: Evaluation, *, shown: int = 50) -> Iterator[str]:
    """Yield how many verdicts are those that came with the samples, and the others by name."""
    judged = ModelSample.objects.filter(item__evaluation=evaluation, execution__state="finished")
    recorded = judged.exclude(recorded=None).select_related("execution", "item__version__example")
    total = recorded.count()
    if not total:
        return
    other = [each for each in recorded if each.execution and each.execution.passed is not each.recorded]
    yield f"{total - len(other):,} of {total:,} recorded verdicts are the same"
    for each in other[:shown]:
        outcome = each.execution.outcome if each.execution else ""
        was = "passed" if each.recorded else "not passed"
        yield f"  {each.item.version.example.key} sample {each.number}: {outcome}, recorded as {was}"


def limit_text(evaluation: Evaluation) -> str:
    """Return the limit as it stands beside a figure."""
    if evaluation.cpu_limit_seconds is None:
        return "each version's own"
    limits = Limits.for_cpu(evaluation.cpu_limit_seconds)
    return f"{limits.cpu_seconds:g} s CPU, {limits.wall_seconds:g} s wall, {limits.memory_bytes >> 20} MiB"


def mean_text(value: Mean) -> str:
    """Return a mean with its interval and denominator, or why it is undefined."""
    over = f"over {value.n:,} examples" if value.is_whole else f"over {value.n:,} of {value.total:,} examples"
    if value.value is None:
        return f"undefined: {value.reason}"
    if value.low is None or value.high is None:
        return f"{value.value:.6f} {over}, no interval: {value.reason}"
    return f"{value.value:.6f} [{value.low:.4f}, {value.high:.4f}] {over}"
