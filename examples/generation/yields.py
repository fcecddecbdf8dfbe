"""REPORT: how far the fragments of runs came, why they stopped, and what an accepted example took; a fixed number of queries."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from itertools import islice
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, Sum
from django.db.models.functions import Coalesce
from scipy.stats import binomtest

from examples.models import Call, Fragment, GenerationRun, Round, Step
from runner.models import Execution
from runner.outcome import Outcome

STAGES = (
    ("found", "Fragments found"),
    ("taken", "Taken in"),
    ("standalone", "Stand alone"),
    ("tests", "Tests written"),
    ("passes", "Reference passes"),
    ("held", "Held"),
    ("accepted", "Accepted"),
)
ENDED = (Fragment.State.LEFT_OUT, Fragment.State.REJECTED, Fragment.State.STOPPED)


@dataclass(frozen=True)
class Stage:
    """How many fragments came so far, of how many that came to the stage before; the interval is Wilson's, 95 %, in 0 to 1."""

    name: str
    title: str
    count: int
    of: int
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Stop:
    """A reason for which fragments ended, in which state, and how many."""

    code: str
    state: str
    count: int

    @property
    def words(self) -> str:
        """The code as words."""
        return self.code.replace("_", " ")

    @property
    def state_words(self) -> str:
        """The state as words."""
        return str(Fragment.State(self.state).label)


@dataclass(frozen=True)
class Yield:
    """What runs made of their fragments.

    rounds, calls  how many there were; `executions` of them were executed, `unjudged` without an outcome
    seconds        of work on rounds, waiting for models included; of its execution where a round was made by rule
    micros         money spent, in millionths; tokens as the endpoints count them
    """

    title: str
    model: str
    prompts: dict[str, str]
    stages: tuple[Stage, ...]
    stops: tuple[Stop, ...]
    open: int
    rounds: int
    calls: int
    executions: int
    unjudged: int
    prompt_tokens: int
    completion_tokens: int
    micros: int
    seconds: float
    runs: tuple[str, ...] = field(default_factory=tuple)

    @property
    def accepted(self) -> int:
        """How many fragments became examples."""
        return self.stages[-1].count

    @property
    def taken(self) -> int:
        """How many fragments were taken in."""
        return self.stages[1].count

    @property
    def tokens(self) -> int:
        """Tokens of prompts and replies."""
        return self.prompt_tokens + self.completion_tokens

    @property
    def rounds_each(self) -> float | None:
        """Rounds for each accepted example."""
        return self._each(self.rounds)

    @property
    def tokens_each(self) -> float | None:
        """Tokens for each accepted example."""
        return self._each(self.tokens)

    @property
    def micros_each(self) -> float | None:
        """Money for each accepted example, in millionths."""
        return self._each(self.micros)

    @property
    def seconds_each(self) -> float | None:
        """Seconds of work for each accepted example."""
        return self._each(self.seconds)

    @property
    def share_low(self) -> float | None:
        """The lower end of the share of fragments taken in that were accepted, 0 to 100."""
        return _percent(wilson(self.accepted, self.taken)[0])

    @property
    def share_high(self) -> float | None:
        """The upper end of it."""
        return _percent(wilson(self.accepted, self.taken)[1])

    def _each(self, amount: float) -> float | None:
        """Return an amount for each accepted example; None, which is undefined, where there is none."""
        return amount / self.accepted if self.accepted else None

    def as_json(self) -> dict[str, Any]:
        """Return the report as plain values; what is undefined is null."""
        return {
            "title": self.title,
            "runs": list(self.runs),
            "model": self.model,
            "prompts": self.prompts,
            "funnel": [asdict(stage) for stage in self.stages],
            "stops": [asdict(stop) for stop in self.stops],
            "open": self.open,
            "rounds": self.rounds,
            "calls": self.calls,
            "executions": self.executions,
            "unjudged": self.unjudged,
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "micros": self.micros,
            "seconds": self.seconds,
            "per_accepted": {
                "rounds": self.rounds_each,
                "tokens": self.tokens_each,
                "micros": self.micros_each,
                "seconds": self.seconds_each,
            },
        }


def _percent(fraction: float | None) -> float | None:
    return None if fraction is None else 100 * fraction


def yield_of(runs: Sequence[GenerationRun], *, title: str = "") -> Yield:
    """Return the report over runs, which share model and prompts where it is to mean one thing; four queries."""
    ids = [run.pk for run in runs]
    fragments = Fragment.objects.filter(run__in=ids).order_by()
    counts = _reached(fragments)
    stops = fragments.filter(state__in=ENDED).values_list("reason_code", "state").annotate(n=Count("pk"))
    rounds = Round.objects.filter(fragment__run__in=ids).order_by()
    worked = rounds.aggregate(
        rounds=Count("pk"),
        seconds=Sum(Coalesce("seconds", "execution__wall_seconds")),
        executions=Count("execution"),
        unjudged=Count("execution", filter=Q(execution__state=Execution.State.UNJUDGED)),
    )
    spent = Call.objects.filter(run__in=ids).aggregate(
        calls=Count("pk"),
        prompt=Sum("prompt_tokens"),
        completion=Sum("completion_tokens"),
        micros=Sum("charged_micros"),
    )
    return Yield(
        title=title or ", ".join(run.name for run in runs),
        model=runs[0].model if runs else "",
        prompts=dict(runs[0].prompts) if runs else {},
        stages=tuple(_stages(counts)),
        stops=tuple(sorted((Stop(*row) for row in stops), key=lambda stop: (-stop.count, stop.code))),
        open=counts["open"],
        rounds=worked["rounds"],
        calls=spent["calls"],
        executions=worked["executions"],
        unjudged=worked["unjudged"],
        prompt_tokens=spent["prompt"] or 0,
        completion_tokens=spent["completion"] or 0,
        micros=spent["micros"] or 0,
        seconds=worked["seconds"] or 0.0,
        runs=tuple(run.name for run in runs),
    )


def yields_by_prompts(runs: Iterable[GenerationRun], *, most: int = 20) -> list[Yield]:
    """Return a report for each model with each version of the prompts, and one for the path without a model.

    At most so many, in the order of the runs; each takes the queries of `yield_of`.
    """
    groups: dict[tuple[str, str, tuple[tuple[str, str], ...]], list[GenerationRun]] = {}
    for run in runs:
        groups.setdefault((run.path, run.model, tuple(sorted(run.prompts.items()))), []).append(run)
    return [yield_of(group, title=_titled(group[0])) for group in islice(groups.values(), most)]


def _titled(run: GenerationRun) -> str:
    versions = ", ".join(f"{step} {version[:8]}" for step, version in sorted(run.prompts.items()))
    return f"{run.model or 'without a model'}{'; ' if versions else ''}{versions}"


def _reached(fragments: Any) -> dict[str, int]:
    """Return how many fragments came how far; a later mark counts for the ones before it."""

    def has(**conditions: Any) -> Exists:
        return Exists(Round.objects.filter(fragment=OuterRef("pk"), rule="", **conditions))

    passed = has(execution__outcome=Outcome.PASSED)
    ready = Q(state__in=[Fragment.State.READY, Fragment.State.ACCEPTED])
    tests = ready | Q(passed=True) | Q(tested=True)
    marked = fragments.annotate(
        alone=has(subject=Round.Subject.PROGRAM, step__in=[Step.STANDALONE, Step.REPAIR]),
        tested=has(subject=Round.Subject.TESTS),
        passed=passed,
    )
    counts: dict[str, int] = marked.aggregate(
        found=Count("pk"),
        taken=Count("pk", filter=~Q(state=Fragment.State.LEFT_OUT)),
        standalone=Count("pk", filter=tests | Q(alone=True)),
        tests=Count("pk", filter=tests),
        passes=Count("pk", filter=ready | Q(passed=True)),
        held=Count("pk", filter=ready),
        accepted=Count("pk", filter=Q(state=Fragment.State.ACCEPTED)),
        open=Count("pk", filter=Q(state__in=[Fragment.State.WAITING, Fragment.State.WORKING])),
    )
    return counts


def _stages(counts: dict[str, int]) -> Iterable[Stage]:
    before = counts["found"]
    for name, title in STAGES:
        low, high = wilson(counts[name], before)
        yield Stage(name, title, counts[name], before, low, high)
        before = counts[name]


def wilson(count: int, total: int) -> tuple[float | None, float | None]:
    """Return Wilson's interval of a share, 95 %, as fractions; None twice where there is nothing to take a share of.

    Wilson 1927, https://doi.org/10.1080/01621459.1927.10502953, without correction for continuity.
    """
    if not total:
        return None, None
    low, high = binomtest(count, total).proportion_ci(confidence_level=0.95, method="wilson")
    return max(0.0, float(low)), min(1.0, float(high))


def funnel_svg(report: Yield) -> str:
    """Return the funnel as an SVG file of its own: a bar a stage, its words beside it; dark ink on white."""
    row, left, wide = 34, 190, 300
    height = row * len(report.stages) + 46
    most = max(report.stages[0].count, 1)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="760" height="{height}" viewBox="0 0 760 {height}" '
        'font-family="sans-serif" font-size="13" fill="#1b1f24" role="img">',
        f"<title>{_escaped(f'Yield of {report.title}')}</title>",
        '<rect width="100%" height="100%" fill="#ffffff"/>',
        f'<text x="16" y="24" font-weight="bold">{_escaped(report.title[:100])}</text>',
    ]
    for at, stage in enumerate(report.stages):
        y = 40 + at * row
        said = f"{stage.count:,}" if not at else f"{stage.count:,} of {stage.of:,}{_interval(stage)}"
        parts += [
            f'<text x="16" y="{y + 17}">{_escaped(stage.title)}</text>',
            f'<rect x="{left}" y="{y + 4}" width="{wide * stage.of / most:.1f}" height="18" fill="#b9d0ec"/>',
            f'<rect x="{left}" y="{y + 4}" width="{wide * stage.count / most:.1f}" height="18" fill="#0b5cad"/>',
            f'<text x="{left + wide + 16}" y="{y + 17}">{_escaped(said)}</text>',
        ]
    return "\n".join([*parts, "</svg>", ""])


def _interval(stage: Stage) -> str:
    if stage.low is None or stage.high is None or not stage.of:
        return ""
    return f", {100 * stage.count / stage.of:.0f} % ({100 * stage.low:.0f} to {100 * stage.high:.0f})"


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
