"""What workers say of themselves, and what pages tell people when none can execute."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from datetime import timedelta
from typing import IO, Any

from django.conf import settings
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from config import locks
from runner.claims import BOOT
from runner.models import Worker

SILENT_AFTER = timedelta(seconds=30)
FORGOTTEN_AFTER = timedelta(minutes=10)
BROKER_AWAY = (
    "The server of the queues (Redis) does not answer, so new runs wait until it is back. Nothing is lost."
)
QUEUED = "so nothing can be executed. Runs wait in the queue and nothing is lost."


@dataclass(frozen=True)
class Post:
    """A worker's name on this host, held by a file lock that the kernel releases when the process ends, however."""

    worker: Worker
    former_boot: str
    lock: IO[bytes]


def sign_on(queues: list[str]) -> Post:
    """Take a free name on this host and write this process's row; gives the boot of the process that had the name.

    Who gets the lock knows that the former holder has ended, so its claims can be given back at once.
    """
    name, lock = _free_name()
    former = Worker.objects.filter(name=name).values_list("boot", flat=True).first() or ""
    worker, _ = Worker.objects.update_or_create(
        name=name, defaults={"queues": queues, "boot": BOOT, "engine_error": "", "started_at": Now()}
    )
    return Post(worker, former, lock)


def _free_name() -> tuple[str, IO[bytes]]:
    """Return the first name of this host that no live process holds, and its lock."""
    folder = settings.DATA_DIR / "workers"
    folder.mkdir(parents=True, exist_ok=True)
    number = 1
    while True:
        name = f"{platform.node()[:90]}-{number}"
        lock = locks.take(folder / f"{name}.lock")
        if lock is not None:
            return name, lock
        number += 1


def beat(worker: Worker, *, engine_error: str, facts: dict[str, Any]) -> None:
    """Write that the worker is alive, and what holds there; a row that was removed meanwhile is made again."""
    Worker.objects.update_or_create(
        name=worker.name,
        defaults={
            "queues": worker.queues,
            "boot": worker.boot,
            "engine_error": engine_error,
            "facts": facts,
            "seen_at": Now(),
        },
    )


def sign_off(worker: Worker) -> None:
    """Remove the row of a worker that ends in order."""
    Worker.objects.filter(name=worker.name, boot=worker.boot).delete()


def forget_silent() -> int:
    """Remove the rows of workers unseen for ten minutes and return how many; the database's clock decides."""
    return Worker.objects.filter(seen_at__lt=Now() - FORGOTTEN_AFTER).delete()[0]


def lately() -> QuerySet[Worker]:
    """Return the workers that have answered lately, by the database's clock."""
    return Worker.objects.filter(seen_at__gte=Now() - SILENT_AFTER)


def engine_trouble(*, in_detail: bool = True) -> str:
    """Return why nothing can be executed now, in plain words; "" when a worker with engine and queue has answered lately.

    In detail it quotes the engine, which may name paths of the host: for curators and admins only.
    """
    said = list(lately().values_list("engine_error", "facts"))
    if not said:
        return f"No worker has answered for 30 s, {QUEUED}"
    errors = [error for error, _ in said]
    if not all(errors):
        return "" if any(facts.get("broker", True) for _, facts in said) else BROKER_AWAY
    return errors[0] if in_detail else f"No worker reaches a container engine, {QUEUED}"


def engine_banner(request: HttpRequest) -> dict[str, object]:
    """Give every page `engine_banner`, read only where a page shows it; only who curates reads the engine's own words."""
    person = getattr(request, "user", None)
    return {
        "engine_banner": SimpleLazyObject(
            lambda: engine_trouble(in_detail=bool(getattr(person, "curates", False)))
        )
    }
