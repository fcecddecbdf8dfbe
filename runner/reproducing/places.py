"""The sandboxes a reproduction runs in: those of this process alone, given back at its end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from runner import boxes
from runner.sandbox.base import Sandbox
from runner.sandbox.pool import Pool

SINGLE = "single"
MODES = (SINGLE,)


@dataclass(frozen=True)
class Places:
    """Where samples run: one sandbox for each thread, one for what must run alone, and what to say of them."""

    sandboxes: Sequence[Sandbox]
    alone: Sandbox
    said: str


@contextmanager
def places(mode: str, image: str, at_once: int) -> Iterator[Places]:
    """Lend sandboxes of a mode for so many programs at once. Raises SandboxUnavailable where none can be had."""
    engine = boxes.engine()
    pool = Pool(engine, {image: 2 * at_once})
    try:
        yield Places(
            [pool] * at_once, pool.cold, f"mode {mode}: a container for each program, {at_once} at once"
        )
    finally:
        pool.close()
