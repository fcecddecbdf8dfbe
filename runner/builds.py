"""BUILD: an environment that somebody asked for: a row and a wake-up, then an image made by a worker, its log kept."""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import F
from django.db.models.functions import Now

from runner.claims import now_plus
from runner.environments.asked import Asked, Made, make
from runner.environments.building import build
from runner.environments.recipe import BuildFailed, recipes
from runner.environments.suites import ASK_SECONDS, SUITES, Offer, ask_mirror
from runner.models import Build, Environment, Suite, bounded
from runner.provisioning import engine_client, store

logger = logging.getLogger(__name__)

WRITE_SECONDS = 0.5
RENEW_SECONDS = 15.0
LEASE_SECONDS = 90.0
LOOK_SECONDS = ASK_SECONDS + 30.0
MOST_TRIES = 3
LOST_TOO_OFTEN = f"The worker was lost {MOST_TRIES} times while it built this. Look at its log, make room on its disk, then build again."
STOPPED = "An error of ours stopped it ({name}: {said}). Build again; if it stays, tell who runs this site."

Say = Callable[[str], None]


class BuildLost(Exception):
    """Somebody else has the build now: discard what came of it here."""


def ask_build(environment: Environment) -> Build:
    """Return the environment's open build, a new one where there is none; who calls this wakes a worker."""
    try:
        with transaction.atomic():
            return Build.objects.create(environment=environment, name=environment.name)
    except IntegrityError:  # build_one_open_per_environment
        return Build.objects.open().get(environment=environment)


def run_build(build_id: int, *, say: Say = lambda _: None) -> Build | None:
    """Build a due environment and return the build at its end, None when it is not to be had or was taken from us.

    It is tried again after a worker was lost, not after a failure: whoever asked reads why, and asks again. Only the
    thread that calls this reaches the database; the engine is spoken to in another.
    """
    claim = secrets.token_hex(8)
    found = _take(build_id, claim)
    if found is None or found.environment is None:
        return None
    said: list[str] = []
    try:
        _try(found, claim, said, say)
    except BuildLost:
        logger.warning("Build %s is somebody else's now; what came of it here is discarded.", build_id)
        return None
    return Build.objects.select_related("environment").get(pk=build_id)


def _try(found: Build, claim: str, said: list[str], say: Say) -> None:
    """Make the image and write what came of it, also where that is a failure. Raises BuildLost."""
    try:
        made = _watched(found, claim, said, say)
        _keep(found, claim, said, made)
    except BuildLost:
        raise
    except BuildFailed as failed:
        _end(found, claim, said, state=Build.State.FAILED, problem=bounded(str(failed)))
    except Exception as error:
        logger.exception("Build %s failed on our side.", found.pk)
        problem = STOPPED.format(name=type(error).__name__, said=error)
        _end(found, claim, said, state=Build.State.FAILED, problem=bounded(problem))


def due_builds() -> list[int]:
    """Return the builds that wait for a worker, oldest first; what was lost too often ends as failed."""
    due = Build.objects.due()
    due.filter(tries__gte=MOST_TRIES).update(
        state=Build.State.FAILED, problem=LOST_TOO_OFTEN, claim="", lease_end=None, finished_at=Now()
    )
    return list(due.order_by("pk").values_list("pk", flat=True))


def ask_suites() -> None:
    """Mark every suite as one to look at; who calls this wakes a worker."""
    for name in SUITES:
        Suite.objects.get_or_create(name=name)
    Suite.objects.filter(name__in=SUITES).update(asked_at=Now())


def look_at_suites() -> None:
    """Look at every suite that is due, one after the other, and write what was found. Needs the network."""
    for suite in Suite.objects.due():
        if not Suite.objects.due().filter(pk=suite.pk).update(lease_end=now_plus(LOOK_SECONDS)):
            continue
        try:
            [offer] = ask_mirror([suite.name])
        except BuildFailed as failed:
            offer = Offer(suite.name, problem=str(failed))
        Suite.objects.filter(pk=suite.pk).update(
            python=offer.python,
            package=offer.package[:40],
            problem=offer.problem,
            asked_at=None,
            lease_end=None,
            found_at=Now(),
        )


def _take(build_id: int, claim: str) -> Build | None:
    """Claim a due build by one conditional UPDATE."""
    taken = (
        Build.objects.due()
        .filter(pk=build_id, tries__lt=MOST_TRIES)
        .update(
            state=Build.State.RUNNING,
            claim=claim,
            lease_end=now_plus(LEASE_SECONDS),
            tries=F("tries") + 1,
            started_at=Now(),
            log="",
        )
    )
    return Build.objects.select_related("environment").get(pk=build_id) if taken else None


def _watched(found: Build, claim: str, said: list[str], say: Say) -> Made:
    """Make the image in another thread, and write meanwhile what it says. Raises BuildFailed or BuildLost."""
    environment = found.environment
    assert environment is not None
    written, renewed = 0, time.monotonic()
    with ThreadPoolExecutor(1, thread_name_prefix="build") as pool:
        work = pool.submit(_make, environment, said.append)
        while not work.done():
            wait([work], timeout=WRITE_SECONDS)
            lines = list(said)
            if len(lines) > written:
                for line in lines[written:]:
                    say(line)
                log = bounded("\n".join(lines))
                _write(found, claim, {"log": log, "lease_end": now_plus(LEASE_SECONDS)})
                written, renewed = len(lines), time.monotonic()
            elif time.monotonic() - renewed > RENEW_SECONDS:
                _write(found, claim, {"lease_end": now_plus(LEASE_SECONDS)})
                renewed = time.monotonic()
        for line in said[written:]:
            say(line)
        return work.result()


def _make(environment: Environment, progress: Say) -> Made:
    """Make what the row says, by the engine; reads the row and writes nothing."""
    ca_file = Path(settings.RUNNER_CA_FILE) if settings.RUNNER_CA_FILE else None
    client = engine_client()
    try:
        if environment.suite:
            return make(_asked(environment), client=client, progress=progress, ca_file=ca_file)
        recipe = recipes().get(environment.name)
        if recipe is None:
            raise BuildFailed(
                f"There is no recipe {environment.name} any more. Ask for an environment of your own."
            )
        return Made(recipe, build(recipe, client=client, progress=progress, ca_file=ca_file))
    finally:
        client.close()


def _asked(environment: Environment) -> Asked:
    python = ".".join(environment.language_version.split(".")[:2])
    return Asked(environment.name, python, environment.suite, environment.wanted, environment.requirements)


def _keep(found: Build, claim: str, said: list[str], made: Made) -> None:
    """Write the image into the environment and end the build, in one transaction. Raises BuildLost."""
    with transaction.atomic():
        image = made.image
        _end(found, claim, said, state=Build.State.BUILT, image_digest=image.digest, fresh=image.fresh)
        store(made.recipe, image, said)


def _end(found: Build, claim: str, said: list[str], **changes: Any) -> None:
    """End the build with its whole log. Raises BuildLost."""
    ended = {"log": bounded("\n".join(said)), "claim": "", "lease_end": None, "finished_at": Now()}
    _write(found, claim, {**ended, **changes})


def _write(found: Build, claim: str, changes: dict[str, Any]) -> None:
    """Write under the claim. Raises BuildLost where the row carries another, or is gone."""
    if not Build.objects.filter(pk=found.pk, claim=claim).update(**changes):
        raise BuildLost(found.pk)
