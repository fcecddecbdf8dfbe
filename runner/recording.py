"""Save what a run reports while it runs: rows in small batches, each write fenced by the claim, then announced."""

from __future__ import annotations

import time
from collections.abc import Iterable

from django.db import transaction
from django.db.models import ExpressionWrapper
from django.db.models.expressions import CombinedExpression

from runner.claims import Claim, now_plus
from runner.events import announce
from runner.models import Execution, TestRow, bounded
from runner.outcome import Row

# A page is told at most 20 times a second, and no write transaction holds SQLite's lock for over 10 ms.
EVERY_SECONDS = 0.05
# A run that ends this soon after its first row is written and announced once, by its end: one transaction instead of
# two, and no page renders a state that lasts for a moment only.
FIRST_ROW_SECONDS = 0.01
BATCH_ROWS = 200


class Recorder:
    """The rows of one run of one execution, by the thread that owns the database connection."""

    def __init__(self, execution: Execution, claim: Claim) -> None:
        self.execution = execution
        self.claim = claim
        self.saved = 0
        self._waiting: list[Row] = []
        self._written_at = float("-inf")
        self._unsaid = False
        self._started_at: float | None = None
        self._first_row_at: float | None = None

    def started(self, at: float) -> None:
        """Note that the program began to run at this moment of `time.monotonic()`."""
        self._started_at = at
        self._unsaid = True

    def add(self, row: Row, at: float) -> None:
        """Note a row; the first one is due in a moment, later ones with their batch."""
        if self._first_row_at is None:
            self._first_row_at = at
        self._waiting.append(row)

    def due_in(self) -> float | None:
        """Return the seconds until something noted must be written; None when nothing waits."""
        if self._waiting and not self.saved:
            return max(0.0, (self._first_row_at or 0.0) + FIRST_ROW_SECONDS - time.monotonic())
        if not self._waiting and not self._unsaid:
            return None
        since = self._written_at if self.saved else self._started_at or float("-inf")
        return max(0.0, since + EVERY_SECONDS - time.monotonic())

    def write(self) -> None:
        """Save what waits and announce it. Raises ClaimLost, and then nothing was saved."""
        while self._waiting or self._unsaid:
            batch, self._waiting = self._waiting[:BATCH_ROWS], self._waiting[BATCH_ROWS:]
            with transaction.atomic():
                self.claim.change(**self.times())
                self.insert(batch)
            self._unsaid = False
        self._written_at = time.monotonic()
        self.execution.refresh_from_db(fields=["sequence", "state"])
        announce(self.execution)

    def insert(self, rows: Iterable[Row]) -> None:
        """Insert rows with the next numbers; the caller holds the transaction and the claim."""
        made = [stored(self.execution, row, self.saved + at) for at, row in enumerate(rows, start=1)]
        TestRow.objects.bulk_create(made)
        self.saved += len(made)

    def times(self) -> dict[str, ExpressionWrapper[CombinedExpression]]:
        """Return when it started and when the first row came, on the database's clock, as far as it is known."""
        noted, now = {"started_at": self._started_at, "first_row_at": self._first_row_at}, time.monotonic()
        return {name: now_plus(at - now) for name, at in noted.items() if at is not None}

    def write_all_but_a_batch(self, rows: tuple[Row, ...]) -> tuple[Row, ...]:
        """Save all rows of the finished run but the last batch, and return that batch for the last transaction."""
        self._waiting = list(rows[self.saved :])
        keep = self._waiting[-BATCH_ROWS:]
        self._waiting = self._waiting[: -len(keep)] if keep else []
        if self._waiting:
            self.write()
        return tuple(keep)

    def drop(self) -> None:
        """Remove what this run saved: the run is repeated under the same claim."""
        with transaction.atomic():
            self.claim.change(started_at=None, first_row_at=None)
            TestRow.objects.filter(execution=self.execution).delete()


class Unrecorded(Recorder):
    """The rows of a run that is made beside an execution and leaves nothing behind but what is made of it."""

    def started(self, at: float) -> None:
        """Note nothing: the execution has begun already."""

    def add(self, row: Row, at: float) -> None:
        """Note nothing."""


def stored(execution: Execution, row: Row, number: int) -> TestRow:
    """Return the row as the database keeps it: texts bounded and without what no database stores."""
    return TestRow(
        execution=execution,
        number=number,
        test=bounded(row.test, 200)[:200],
        assertion=row.assertion,
        outcome=row.outcome,
        line=row.line,
        message=bounded(row.message, 8 << 10),
        values=[bounded(value, 4 << 10) for value in row.values],
        milliseconds=row.milliseconds,
    )
