"""What those who operate the site look at: queues, workers, images, failures of ours, and how long each stage takes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil

from django.db.models import Count, Max, Min, Q
from django.utils import timezone

from runner.claims import REPLACED
from runner.models import Environment, Execution, Fault, Worker
from runner.workers import SILENT_AFTER

# How many of the newest executions of a queue the times are taken from: enough for a p95, and one short query.
NEWEST = 1000
FAULTS_SHOWN, UNJUDGED_SHOWN = 20, 20
DAY, HOUR = timedelta(days=1), timedelta(hours=1)
# From asking to the end, each from the moment before.
STAGES = (
    ("queued", "created_at", "leased_at", "until a worker has it"),
    ("leased", "leased_at", "started_at", "until its program begins"),
    ("started", "started_at", "first_row_at", "until its first row"),
    ("first row", "first_row_at", "finished_at", "until its end"),
    ("finished", "created_at", "finished_at", "from asking to the end"),
)


@dataclass(frozen=True)
class QueueState:
    """A queue: how many wait (`later` of them for a later try) and run, and how long the oldest has waited."""

    name: str
    waiting: int = 0
    running: int = 0
    later: int = 0
    oldest_seconds: float | None = None


@dataclass(frozen=True)
class Warm:
    """Boxes that wait for a job with an environment's image."""

    environment: str
    boxes: int


@dataclass(frozen=True)
class WorkerState:
    """A worker, as it last said of itself."""

    name: str
    queues: tuple[str, ...]
    seen_at: datetime
    silent: bool
    trouble: str
    engine: str
    kernel: str
    modes: dict[str, str]
    pool: tuple[Warm, ...]


@dataclass(frozen=True)
class ImageState:
    """An environment's image and the hosts that have it, of those whose workers have answered lately."""

    environment: str
    digest: str
    size_bytes: int | None
    hosts: tuple[str, ...]
    lacking: tuple[str, ...]


@dataclass(frozen=True)
class FaultState:
    """A reason for which tries have ended by our fault within the last day."""

    reason: str
    times: int
    unjudged: int
    last_at: datetime


@dataclass(frozen=True)
class Times:
    """Median and 95th percentile in seconds of the last hour and the last day; None where nothing was measured."""

    stage: str
    meaning: str
    hour_p50: float | None
    hour_p95: float | None
    day_p50: float | None
    day_p95: float | None


@dataclass(frozen=True)
class QueueTimes:
    """How long the stages of a queue's executions took, and of how many that is."""

    name: str
    hour: int
    day: int
    stages: tuple[Times, ...]


@dataclass(frozen=True)
class Operations:
    """Everything on the page, at one moment; faults and unjudged executions are those of the last day."""

    at: datetime
    queues: tuple[QueueState, ...]
    workers: tuple[WorkerState, ...]
    images: tuple[ImageState, ...]
    faults: tuple[FaultState, ...]
    unjudged: tuple[Execution, ...]
    unjudged_count: int
    times: tuple[QueueTimes, ...]

    @property
    def alive(self) -> int:
        """How many workers have answered lately and can execute."""
        return sum(not worker.silent and not worker.trouble for worker in self.workers)


def operations(now: datetime | None = None) -> Operations:
    """Return how the runner stands, in a fixed number of queries, however much has been executed."""
    now = now or timezone.now()
    environments = list(Environment.objects.order_by("name").only("name", "image_digest", "size_bytes"))
    workers = list(Worker.objects.order_by("name"))
    unjudged = Execution.objects.filter(state=Execution.State.UNJUDGED, finished_at__gte=now - DAY)
    unjudged = unjudged.exclude(reason=REPLACED)
    shown = unjudged.order_by("-pk").select_related("environment").defer("job_data", "stdout", "stderr")
    return Operations(
        at=now,
        queues=_queues(now),
        workers=tuple(_worker(worker, environments, now) for worker in workers),
        images=tuple(_image(each, workers, now) for each in environments if each.image_digest),
        faults=_faults(now),
        unjudged=tuple(shown[:UNJUDGED_SHOWN]),
        unjudged_count=unjudged.count(),
        times=tuple(_times(queue, now) for queue in Execution.Queue.values),
    )


def _queues(now: datetime) -> tuple[QueueState, ...]:
    waits, later = Q(state=Execution.State.QUEUED), Q(retry_at__gt=now)
    found = {
        row["queue"]: QueueState(
            row["queue"], row["waiting"], row["running"], row["later"], _seconds(row["oldest_at"], now)
        )
        for row in Execution.objects.open()
        .values("queue")
        .order_by()
        .annotate(
            waiting=Count("pk", filter=waits),
            running=Count("pk", filter=Q(state=Execution.State.RUNNING)),
            later=Count("pk", filter=waits & later),
            oldest_at=Min("created_at", filter=waits),
        )
    }
    return tuple(found.get(name, QueueState(name)) for name in Execution.Queue.values)


def _seconds(since: datetime | None, now: datetime) -> float | None:
    return None if since is None else max(0.0, (now - since).total_seconds())


def _worker(worker: Worker, environments: Sequence[Environment], now: datetime) -> WorkerState:
    facts = worker.facts
    names = {each.image_digest: each.name for each in environments}
    pool = [Warm(names.get(digest, digest[:19]), boxes) for digest, boxes in facts.get("waiting", {}).items()]
    return WorkerState(
        name=worker.name,
        queues=tuple(worker.queues),
        seen_at=worker.seen_at,
        silent=_is_silent(worker, now),
        trouble=worker.engine_error or ("" if facts.get("broker", True) else "The queues' server is away."),
        engine=str(facts.get("engine", "")),
        kernel=str(facts.get("kernel", "")),
        modes=dict(facts.get("modes", {})),
        pool=tuple(sorted(pool, key=lambda warm: warm.environment)),
    )


def _is_silent(worker: Worker, now: datetime) -> bool:
    return worker.seen_at < now - SILENT_AFTER


def _image(environment: Environment, workers: Iterable[Worker], now: datetime) -> ImageState:
    alive = [worker for worker in workers if not _is_silent(worker, now) and "images" in worker.facts]
    has = {str(w.facts.get("host", w.name)) for w in alive if environment.image_digest in w.facts["images"]}
    all_hosts = {str(worker.facts.get("host", worker.name)) for worker in alive}
    return ImageState(
        environment.name,
        environment.image_digest,
        environment.size_bytes,
        tuple(sorted(has)),
        tuple(sorted(all_hosts - has)),
    )


def _faults(now: datetime) -> tuple[FaultState, ...]:
    grouped = (
        Fault.objects.filter(at__gte=now - DAY)
        .values("reason")
        .order_by()
        .annotate(times=Count("pk"), unjudged=Count("pk", filter=Q(last=True)), last_at=Max("at"))
        .order_by("-last_at")
    )
    return tuple(
        FaultState(row["reason"], row["times"], row["unjudged"], row["last_at"])
        for row in grouped[:FAULTS_SHOWN]
    )


def _times(queue: str, now: datetime) -> QueueTimes:
    columns = ("created_at", "leased_at", "started_at", "first_row_at", "finished_at")
    newest = Execution.objects.filter(queue=queue, state=Execution.State.FINISHED, finished_at__gte=now - DAY)
    # People's are few among many of bulk and have an index; those of bulk are found at once from the end of the table.
    order = "-finished_at" if queue == Execution.Queue.INTERACTIVE else "-pk"
    day = list(newest.order_by(order).values(*columns)[:NEWEST])
    hour = [row for row in day if row["finished_at"] >= now - HOUR]
    stages = [
        Times(name, meaning, *_percentiles(hour, begin, end), *_percentiles(day, begin, end))
        for name, begin, end, meaning in STAGES
    ]
    return QueueTimes(queue, len(hour), len(day), tuple(stages))


def _percentiles(
    rows: Iterable[dict[str, datetime | None]], begin: str, end: str
) -> tuple[float | None, float | None]:
    """Return median and 95th percentile (nearest rank) of the seconds between two moments, where both are known."""
    pairs = [(row[begin], row[end]) for row in rows]
    took = sorted((last - first).total_seconds() for first, last in pairs if first and last)
    if not took:
        return None, None
    return took[ceil(len(took) * 0.5) - 1], took[ceil(len(took) * 0.95) - 1]
