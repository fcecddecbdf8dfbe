"""MODES: how bulk samples are kept apart on this host: what the setting asks for, as far as a trial shows that it holds."""

from __future__ import annotations

import math
import secrets
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

import structlog
from django.conf import settings
from django.db import DatabaseError, connection

from runner import boxes
from runner.models import Environment
from runner.outcome import Outcome, judge
from runner.sandbox.base import HostUnfit, Job, Limits, SandboxUnavailable
from runner.sandbox.containers import MODE as SINGLE
from runner.sandbox.engine import Engine
from runner.sandbox.zygote import LANDLOCK, NAMESPACES, Kind, Line

log = structlog.get_logger(__name__)

# From the fastest down; each falls back to the next.
MODES = (LANDLOCK, NAMESPACES, SINGLE)
AUTO = "auto"
SETTINGS = (AUTO, *MODES)
HOLDS = "yes"
AGAIN_SECONDS = 600.0

_LIMITS = Limits(cpu_seconds=5, wall_seconds=60)  # a busy machine must not look like one that cannot
_TEST = "test_it_holds"
_LEAVES = """
import ctypes, os, subprocess
for place in ("/work", "/tmp", "/dev/shm", "/dev/mqueue"):
    try:
        open(place + "/left", "w").close()
    except OSError:
        pass
ctypes.CDLL(None).shmget(4711, 4096, 0o1666)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        import time
        time.sleep(600)
    os._exit(0)
assert True
"""
_FINDS_NOTHING = """
import ctypes, os
found = []
for place in ("/work", "/tmp", "/dev/shm", "/dev/mqueue"):
    try:
        found += os.listdir(place)
    except OSError:
        pass
assert found == []
assert ctypes.CDLL(None).shmget(4711, 4096, 0) == -1
"""
_ALONE = """
import os
for path in ("/proc/1/environ", "/proc/1/mem", "/proc/1/fd", "/proc/self/environ"):
    try:
        os.listdir(path) if path.endswith("fd") else open(path).close()
    except OSError:
        pass
    else:
        assert False, path
try:
    os.kill(-1, 9)
except OSError:
    pass
assert True
"""
_TRIALS = ("assert sum(range(10)) == 45", _LEAVES, _FINDS_NOTHING, _ALONE, _FINDS_NOTHING)


@dataclass
class _Tried:
    """What trials have shown in this process."""

    found: dict[str, str] = field(default_factory=dict)
    again_at: dict[str, float] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)


_tried = _Tried()


def chain(image: str) -> tuple[str, ...]:
    """Return the modes to run samples in, best first; the last is always `single`. Raises HostUnfit.

    The first call of a process tries the modes in containers of this image. One that did not hold is tried again after
    a while: a busy machine or a container removed by hand may have been the reason.
    """
    wanted = settings.RUNNER_BULK_MODE
    if wanted == SINGLE:
        return (SINGLE,)
    first = 0 if wanted == AUTO else MODES.index(wanted)
    with _tried.lock:
        for mode in MODES[first:-1]:
            if mode not in _tried.found or time.monotonic() >= _tried.again_at.get(mode, math.inf):
                _tried.found[mode] = tried(boxes.engine(), mode, image)
                _tried.again_at.pop(mode, None)
                if _tried.found[mode] != HOLDS:
                    _tried.again_at[mode] = time.monotonic() + AGAIN_SECONDS
                    log.warning("modes.falls_back", mode=mode, reason=_tried.found[mode])
    return (*(mode for mode in MODES[first:-1] if _tried.found[mode] == HOLDS), SINGLE)


def try_at_start() -> None:
    """Try the modes before the first sample comes (workers); where nothing can be tried yet, the first batch does it."""
    try:
        found = Environment.objects.filter(name=boxes.PLAIN).exclude(image_digest="")
        for image in found.values_list("image_digest", flat=True):
            log.info("modes.tried", chain=chain(image))
    except (DatabaseError, SandboxUnavailable, boxes.Closing) as error:
        log.warning("modes.not_tried", reason=str(error))
    finally:
        connection.close()


def first_that_holds(shown: Mapping[str, str], wanted: str) -> str:
    """Return the mode that samples are run in where trials have shown this and the setting wants that."""
    first = 0 if wanted == AUTO else MODES.index(wanted)
    return next(mode for mode in MODES[first:] if shown.get(mode) == HOLDS)


def known() -> dict[str, str]:
    """Return what trials of this process have shown so far: mode to `yes`, or to why not."""
    return {SINGLE: HOLDS, **_tried.found}


def tried(engine: Engine, mode: str, image: str) -> str:
    """Try a mode in a container of an image; return `yes`, or why it does not hold here. Raises HostUnfit.

    A sample leaves behind whatever it can, one looks for that, one looks at its surroundings and kills what it may,
    and one looks again.
    """
    if mode == SINGLE:
        return HOLDS
    jobs = [_job(body) for body in _TRIALS]
    line = Line(engine, mode, Kind.of(jobs[0], image), keeper=secrets.token_hex(8))
    said: dict[int, str] = {}
    try:
        for ran in line.run(jobs):
            if ran is not None and ran.measurement is None:
                return "the container ended without a word of a sample"
            if ran is not None and ran.measurement is not None:
                judged = judge(ran.measurement, (_TEST,))
                why = judged.tests[0].message or ran.measurement.load_error
                said[ran.place] = (
                    "" if judged.outcome is Outcome.PASSED else f"{judged.outcome} {why}".strip()
                )
    except HostUnfit:
        raise
    except SandboxUnavailable as error:
        return str(error)
    finally:
        line.close()
    failed = [f"trial {place + 1}: {why}" for place, why in sorted(said.items()) if why]
    return "; ".join(failed) or HOLDS


def forget() -> None:
    """Try again at the next call: the kernel or the engine may be another."""
    with _tried.lock:
        _tried.found.clear()
        _tried.again_at.clear()


def _job(body: str) -> Job:
    lines = "\n".join(f"    {line}" for line in body.strip().splitlines())
    return Job("", f"def {_TEST}():\n{lines}\n", (_TEST,), _LIMITS, revealed=True)
