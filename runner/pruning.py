"""PRUNE: images that nothing names any more leave the engine; the rows of their builds stay, so a digest stays known."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass

import docker
import docker.errors
import requests
from django.utils import timezone

from runner.environments.recipe import BuildFailed
from runner.models import Build, Environment, Execution
from runner.provisioning import engine_client

logger = logging.getLogger(__name__)

# Boxes that wait with an image hold it; they are given up a beat after its environment is gone.
HELD_SECONDS = 15.0
CONFLICT = 409


@dataclass(frozen=True)
class Removed:
    """An image that left the engine, by digest, and the bytes it had there; 0 where it was gone already."""

    digest: str
    size: int


def sweep(*, named: Callable[[str], bool], held_seconds: float = HELD_SECONDS) -> list[Removed]:
    """Remove the images of former builds that no environment and no execution names, and `named` neither.

    Does nothing while something is being built, which may stand on one of them. An image that a container still holds is
    left for the next sweep. Raises BuildFailed where no engine answers.
    """
    if Build.objects.open().exists():
        return []
    digests = [digest for digest in _former() if not _executed_in(digest) and not named(digest)]
    if not digests:
        return []
    client = engine_client()
    try:
        return [gone for digest in digests if (gone := _remove(client, digest, held_seconds)) is not None]
    except requests.exceptions.RequestException as error:
        raise BuildFailed(f"The engine did not answer: {error}. Try again.") from error
    finally:
        client.close()


def _former() -> list[str]:
    """Return the digests that were built, are not known to be gone, and are no environment's now."""
    built = Build.objects.filter(state=Build.State.BUILT, image_removed_at=None)
    current = Environment.objects.built().values("image_digest")
    former = built.exclude(image_digest__in=current)
    return list(former.order_by("image_digest").values_list("image_digest", flat=True).distinct())


def _executed_in(digest: str) -> bool:
    return Execution.objects.filter(facts__image=digest).exists()


def _remove(client: docker.DockerClient, digest: str, held_seconds: float) -> Removed | None:
    """Remove an image and note it; None where something holds it."""
    until = time.monotonic() + held_seconds
    size = 0
    while True:
        try:
            size = int(client.images.get(digest).attrs["Size"])
            client.images.remove(digest)
        except docker.errors.ImageNotFound:
            pass
        except docker.errors.APIError as error:
            if error.status_code == CONFLICT and time.monotonic() < until:
                time.sleep(1)
                continue
            logger.warning("Image %s stays for now: %s", digest, error)
            return None
        Build.objects.filter(image_digest=digest).update(image_removed_at=timezone.now())
        return Removed(digest, size)
