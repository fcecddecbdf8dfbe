"""Warm single-use containers: started ahead, taken once, gone afterwards; for interactive runs."""

from __future__ import annotations

import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Mapping
from queue import Empty, SimpleQueue

import structlog

from runner.languages import language
from runner.outcome import Measurement
from runner.sandbox.base import Job, Limits, OnRow, OnStarted, SandboxUnavailable
from runner.sandbox.containers import MODE, ColdSandbox, run_in_box
from runner.sandbox.engine import POOL_LIFE_SECONDS, START_SECONDS, Box, Engine
from runner.sandbox.precedence import Precedence
from runner.sandbox.settings import BoxSettings

LIFE_SECONDS = POOL_LIFE_SECONDS / 2
RETRY_SECONDS = 2.0
LOOK_SECONDS = 20.0
# How long after a run its box and the box's successor wait to be tended. Both take more processor time than the run; on
# the cores that save, send and show its outcome they would double the time a person waits for it.
REST_SECONDS = 0.25
STEP_SECONDS = 0.02
# How long a refill holds back at most while a job starts a box of its own.
HURRY_SECONDS = 1.0
WARM_LIMITS = Limits.for_cpu(1)

log = structlog.get_logger(__name__)


class Pool:
    """A sandbox that keeps boxes waiting, so many for each image; an image it does not keep starts cold.

    A waiting box has hash seed 0 and the usual memory and process limits; a job that asks for others starts cold.
    Safe to use from several threads.
    """

    mode = MODE

    def __init__(
        self,
        engine: Engine,
        sizes: Mapping[str, int],
        *,
        threads: int = 2,
        lang: str = "python",
        precedence: Precedence | None = None,
    ) -> None:
        self.engine = engine
        self.precedence = precedence or Precedence()
        self.cold = ColdSandbox(engine)
        self.sizes = dict(sizes)
        self.language = language(lang)
        self._waiting: dict[str, deque[Box]] = defaultdict(deque)
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._coming: dict[str, int] = defaultdict(int)  # boxes being started
        self._awaited: dict[str, int] = defaultdict(int)  # jobs that wait for one of them
        self._hurried = 0  # jobs that start a box of their own
        self._closing = threading.Event()
        self._work: SimpleQueue[tuple[str | Box | None, float]] = SimpleQueue()
        self._threads = [
            threading.Thread(target=self._tend, name=f"pool-{n}", daemon=True) for n in range(threads)
        ]
        for thread in self._threads:
            thread.start()
        for image, size in self.sizes.items():
            for _ in range(size):
                self._order(image)

    def run(self, job: Job, *, image: str, name: str, on_started: OnStarted, on_row: OnRow) -> Measurement:
        """Run the job in a waiting box or the next to come, in a cold one when none is on its way. Raises SandboxUnavailable."""
        box = (self._take(image) or self._next(image)) if self._fits(job) else None
        if box is None:
            return self._run_cold(job, image=image, name=name, on_started=on_started, on_row=on_row)
        successor = Once(lambda: self._order(image, rest=REST_SECONDS))
        try:
            return run_in_box(
                self.engine, box, job, name=name, on_started=on_started, on_row=on_row, on_slow=successor
            )
        finally:
            successor()
            self._order(box, rest=REST_SECONDS)

    def _run_cold(
        self, job: Job, *, image: str, name: str, on_started: OnStarted, on_row: OnRow
    ) -> Measurement:
        """Run the job in a box of its own; until that has started nobody else's box is begun."""
        with self._lock:
            self._hurried += 1
        calm = Once(self._calm)

        def started() -> None:
            calm()
            on_started()

        try:
            return self.cold.run(job, image=image, name=name, on_started=started, on_row=on_row)
        finally:
            calm()

    def _calm(self) -> None:
        with self._changed:
            self._hurried -= 1
            self._changed.notify_all()

    def waiting(self, image: str) -> int:
        """Return how many boxes wait for a job with this image."""
        with self._lock:
            return len(self._waiting[image])

    def keep(self, sizes: Mapping[str, int]) -> None:
        """Keep so many boxes for each image from now on; those of other images are given up."""
        with self._lock:
            before, self.sizes = self.sizes, dict(sizes)
            surplus = [
                line.pop()
                for image, line in self._waiting.items()
                for _ in range(len(line) - sizes.get(image, 0))
            ]
        for box in surplus:
            self._order(box)
        for image, size in sizes.items():
            for _ in range(size - before.get(image, 0)):
                self._order(image)

    def wait_until_full(self, seconds: float) -> bool:
        """Return whether every image has its boxes waiting within so many seconds."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if all(self.waiting(image) >= size for image, size in self.sizes.items()):
                return True
            time.sleep(0.01)
        return False

    def close(self) -> None:
        """Stop refilling and remove every box, waiting or running."""
        self._closing.set()
        for _ in self._threads:
            self._order(None)
        for thread in self._threads:
            thread.join(timeout=60)
        with self._lock:
            boxes = [box for line in self._waiting.values() for box in line]
            self._waiting.clear()
        for box in boxes:
            self.engine.dispose(box)
        self.cold.close()

    def _fits(self, job: Job) -> bool:
        usual = (WARM_LIMITS.memory_bytes, WARM_LIMITS.processes)
        same_limits = (job.limits.memory_bytes, job.limits.processes) == usual
        return job.seed == 0 and same_limits and job.language == self.language.name

    def _take(self, image: str) -> Box | None:
        """Return a waiting box that is alive and not too old; successors of others are ordered."""
        while True:
            with self._lock:
                line = self._waiting[image]
                box = line.popleft() if line else None
            if box is None:
                return None
            if _is_fit(box):
                return box
            self._order(image)
            self._order(box)

    def _next(self, image: str) -> Box | None:
        """Return the next box that is being started, None where all of them are awaited by others or do not come up.

        It is there sooner than one begun now, which would take the processor from it.
        """
        with self._changed:
            if self._coming[image] <= self._awaited[image]:
                return None
            self._awaited[image] += 1
            self._changed.wait_for(
                lambda: self._waiting[image] or self._coming[image] < self._awaited[image], START_SECONDS
            )
            self._awaited[image] -= 1
        return self._take(image)

    def _order(self, item: str | Box | None, *, rest: float = 0.0) -> None:
        """Let a thread start a box of this image, dispose of this box, or end; after a rest of so many seconds."""
        self._work.put((item, time.monotonic() + rest))

    def _tend(self) -> None:
        """Start ordered boxes, dispose of used ones; a thread's whole life."""
        while True:
            try:
                item, due = self._work.get(timeout=LOOK_SECONDS)
            except Empty:
                self._replace_unfit()
                continue
            if item is None:
                return
            self._rest_until(due)
            if isinstance(item, Box):
                self.engine.dispose(item)
            elif item in self.sizes and not self._closing.is_set():
                self._refill(item)

    def _rest_until(self, due: float) -> None:
        """Wait until then, and while a run has precedence; not while boxes are running out, and not at the end."""
        while (time.monotonic() < due or self.precedence.left_seconds()) and not self._is_low():
            if self._closing.wait(STEP_SECONDS):
                return

    def _is_low(self) -> bool:
        """Return whether fewer than half the boxes of an image wait."""
        return any(2 * self.waiting(image) < size for image, size in self.sizes.items())

    def _replace_unfit(self) -> None:
        """Exchange waiting boxes that are dead or too old, so that nobody finds them when they want to run."""
        with self._lock:
            unfit = [
                (image, box) for image, line in self._waiting.items() for box in line if not _is_fit(box)
            ]
            for image, box in unfit:
                self._waiting[image].remove(box)
        for image, box in unfit:
            self._order(image)
            self._order(box)

    def _refill(self, image: str) -> None:
        """Start one box, unless the image has its boxes by now."""
        if self.waiting(image) >= self.sizes.get(image, 0):
            return
        settings = BoxSettings.of(image, self.language, 0, WARM_LIMITS, self.engine.runtime)
        with self._changed:
            self._changed.wait_for(lambda: not self._hurried or self._closing.is_set(), HURRY_SECONDS)
            self._coming[image] += 1
        box = None
        try:
            box = self.engine.start(settings, keeper=self.cold.keeper)
        except SandboxUnavailable as error:
            log.warning("pool.refill_failed", image=image, reason=str(error))
        with self._changed:
            self._coming[image] -= 1
            if box is not None:
                self._waiting[image].append(box)
            self._changed.notify_all()
        if box is None and not self._closing.wait(RETRY_SECONDS):
            self._order(image)


class Once:
    """Does a thing the first time it is called: a box's successor is ordered when its run lasts, else at its end."""

    def __init__(self, order: Callable[[], None]) -> None:
        self._order: Callable[[], None] | None = order

    def __call__(self) -> None:
        """Order, the first time."""
        order, self._order = self._order, None
        if order is not None:
            order()


def _is_fit(box: Box) -> bool:
    """Return whether a waiting box is alive and well before its deadline."""
    return box.stream.is_quiet() and time.monotonic() - box.started < LIFE_SECONDS
