"""What keeps this host from executing just now: an engine that is away or full, an image that is not here.

Found out once in a while by the reconciler and at once by a run that failed; asked before every claim, so that a host that
can run nothing uses up no try and leaves the work to others.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field

from runner import boxes
from runner.claims import BOOT
from runner.models import Environment, Execution
from runner.sandbox.base import HostUnfit, ImageAbsent, NotBegun, SandboxUnavailable
from runner.workers import lately

# After a run found the host unfit; an engine that answers may still be full.
CLOSED_SECONDS = 5.0
# After the reconciler found it unfit: until it looks again, which a hung engine may delay.
UNFIT_SECONDS = 60.0
IMAGES_SECONDS = 10.0


@dataclass
class _Host:
    """What this process knows of its host."""

    reason: str = ""
    until: float = 0.0
    images: dict[str, int] = field(default_factory=dict)
    absent: frozenset[str] = frozenset()
    images_at: float = float("-inf")
    lock: threading.Lock = field(default_factory=threading.Lock)


_host = _Host()


def trouble() -> str:
    """Return why nothing can be executed here, "" when all is well as far as is known."""
    return _host.reason if time.monotonic() < _host.until else ""


def note(found: NotBegun) -> None:
    """Take in why a run could not begin; one image that is absent, or one box that did not start, says nothing of others."""
    if isinstance(found, HostUnfit) and not isinstance(found, ImageAbsent):
        _close(str(found), CLOSED_SECONDS)


def look() -> str:
    """Ask the engine whether it is there and which images it has; return why nothing can be executed, or ""."""
    try:
        boxes.engine().boxes()
        if time.monotonic() - _host.images_at > IMAGES_SECONDS:
            _look_for_images()
    except SandboxUnavailable as unavailable:
        _close(str(unavailable), UNFIT_SECONDS)
    else:
        with _host.lock:
            _host.until = min(_host.until, time.monotonic() + CLOSED_SECONDS)
    return trouble()


def images() -> dict[str, int]:
    """Return the images of our environments that this host has: digest to size in bytes."""
    return _host.images


def any_here() -> bool:
    """Return whether anything at all cannot be run here now; asks nobody."""
    return bool(_host.absent or trouble())


def for_others(execution: Execution) -> bool:
    """Return whether this host cannot run the execution now, and a worker elsewhere that can has answered lately."""
    digest = execution.environment.image_digest
    if not trouble() and digest not in _host.absent:
        return False
    others = lately().filter(engine_error="").exclude(boot=BOOT)
    return any(
        execution.queue in other.queues and digest in other.facts.get("images", {}) for other in others
    )


def _close(reason: str, seconds: float) -> None:
    with _host.lock:
        _host.reason, _host.until = reason, time.monotonic() + seconds


def _look_for_images() -> None:
    """Find out which environments' images are here. Raises SandboxUnavailable."""
    here = boxes.engine().images()
    digests = set(Environment.objects.exclude(image_digest="").values_list("image_digest", flat=True))
    _host.images = {digest: here[digest] for digest in digests if digest in here}
    _host.absent = frozenset(digests - here.keys())
    _host.images_at = time.monotonic()
