"""The host's side of one run: sends the job, reads rows as they come, decides what runs next, sums up."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from runner.languages.base import Prepared
from runner.outcome import Measurement, Outcome, Row, cause_of_end
from runner.sandbox.base import Job, OnRow, SandboxUnavailable
from runner.sandbox.rows import plain_text, row_of, storable, tests_error_of, undecided
from runner.sandbox.stream import BoxStream, Frame, StreamTimeout

SLACK_SECONDS = 5.0
SEND_SECONDS = 20.0
NAME_AFTER_SECONDS = 0.05
ROWS = 20_000
TOO_BUSY = "This host is too busy: a compiler had {:.1f} s of CPU in all its time."
SILENT = "The engine went silent while the program ran."


class Build:
    """What a language that builds its programs said of that, before anything of the program could run."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.over, self.error = seconds, seconds <= 0, ""
        self.running = not self.over
        self.facts = {} if self.over else {"build_limit_seconds": f"{seconds:g}"}

    @property
    def wall_seconds(self) -> float:
        """Return how long all builds of a run may last, the wall limit of each being twice its CPU limit and a second."""
        return 3 * self.seconds

    def takes(self, said: Frame) -> bool:
        """Take a row of the build; what comes behind the first end of it is the program's, so not to be believed."""
        if not self.seconds or not ("built" in said or "load_error" in said):
            return False
        self.running = False
        if self.over:
            return True
        self.over = True
        if "built" in said:
            self.facts["build_seconds"] = f"{float(said['built']):.2f}"
        else:
            self.error = plain_text(said["load_error"])
        return True


class Conversation:
    """One job in one box."""

    def __init__(self, stream: BoxStream, job: Job, prepared: Prepared, on_row: OnRow) -> None:
        self.stream, self.job, self.prepared, self.on_row = stream, job, prepared, on_row
        self.planned = {(planned.test, planned.assertion): planned for planned in prepared.planned}
        self.rows: list[Row] = []
        self.done: set[str] = set()
        self.failed: set[str] = set()
        self.opaque = False
        self.open: str | None = None
        self.tests_error = ""
        self.network = ""
        self.build = Build(prepared.build_seconds)
        self.ends: list[Measurement] = []
        self.began = time.monotonic()

    def header(self) -> dict[str, Any]:
        """Return what the program's process must know before it loads: the program and its limits."""
        limits = self.job.limits
        return {
            "program": self.job.program,
            "revealed": self.job.revealed,
            "watch_network": self.job.watch_network,
            "cpu_seconds": limits.cpu_seconds,
            "wall_seconds": limits.wall_seconds,
            "output_bytes": limits.output_bytes,
            "build_seconds": self.prepared.build_seconds,
        }

    def begin(self) -> None:
        """Send the header. Raises SandboxUnavailable when the box is gone."""
        self.stream.send(json.dumps(self.header()).encode(), timeout=SEND_SECONDS)

    def finish(
        self, facts: dict[str, str], *, on_slow: Callable[[], None], kill: Callable[[], bool]
    ) -> Measurement:
        """Follow the run to its end and return what happened.

        `on_slow` is called once when the run is still going after a moment; `kill` ends a box that did not keep its
        own wall limit, which then decides. Raises SandboxUnavailable when the box ends without a word, or had ended by
        itself and its word never reached us: then the engine hung, and no program is to blame.
        """
        deadline = self.began + self.job.limits.wall_seconds + self.build.wall_seconds + SLACK_SECONDS
        slow_at: float | None = self.began + NAME_AFTER_SECONDS
        while True:
            try:
                frame = self.stream.receive(until=min(deadline, slow_at or deadline))
            except StreamTimeout:
                if slow_at is not None:
                    slow_at = None
                    on_slow()
                    continue
                if not kill():
                    raise SandboxUnavailable(SILENT) from None
                self.ends.append(self._overdue())
                break
            if self._is_last(frame):
                break
        return self._sum(facts)

    def _is_last(self, frame: Frame) -> bool:
        """Take one frame from the box; return whether the run is over."""
        kind = frame["kind"]
        if kind == "loaded":
            self.stream.send(self.prepared.payload(self._remaining()), timeout=SEND_SECONDS)
        elif kind == "row":
            self._row(frame["row"])
        elif kind == "ended":
            self.ends.append(self._measurement(frame["facts"]))
            self._refuse_slow_build()
            if not self._goes_on():
                return True
            self.stream.send(b'"again"', timeout=SEND_SECONDS)
            self.build.running = self.build.seconds > 0
        elif kind == "dirty":
            return True
        else:
            raise SandboxUnavailable(f"The box sent {kind!r}, which it should not.")
        return False

    def _refuse_slow_build(self) -> None:
        """Raise SandboxUnavailable where only wall time ended a build: nothing in it can wait, so the host was too busy."""
        end = self.ends[-1]
        if self.build.running and end.wall_exceeded and not end.cpu_exceeded:
            raise SandboxUnavailable(TOO_BUSY.format(end.cpu_seconds))

    def _remaining(self) -> list[str]:
        return [test for test in self.job.expected if test not in self.done]

    def _row(self, said: Frame) -> None:
        """Take an authentic row, as far as it makes sense."""
        if "begin" in said:
            self.open = said["begin"] if said["begin"] in self.job.expected else self.open
        elif "tests_error" in said:
            self.tests_error = tests_error_of(said["tests_error"], self.job)
        elif "network" in said:
            self.network = plain_text(said["network"]) if self.job.watch_network else ""
        elif not self.build.takes(said):
            row = row_of(said, self.job, self.planned)
            if row is not None:
                self.opaque |= undecided(said, self.planned)
                self._add(row, believed=said["outcome"] == row.outcome)

    def _add(self, row: Row, *, believed: bool = True) -> None:
        """Keep a row; a test is over with its first failing assertion, also where its process did not know and went on.

        `believed` says that the process knew: how the test ends then is its own word, be it that it has left.
        """
        if row.test in self.failed:
            if row.assertion is not None:
                return
            row = replace(row, outcome=Outcome.FAILED)
        elif row.assertion is not None and row.outcome is Outcome.FAILED and not believed:
            self.failed.add(row.test)
        if row.assertion is None:
            self.done.add(row.test)
            self.open = None if self.open == row.test else self.open
        if len(self.rows) < ROWS:
            self.rows.append(row)
            self.on_row(row)

    def _goes_on(self) -> bool:
        """Give the test the process died in its outcome; return whether a fresh process can run others."""
        end = self.ends[-1]
        cause = cause_of_end(end)
        if self.open in self.failed:  # what it came to after that assertion is no outcome
            self.ends[-1] = _without_cause(end)
        if not end.loaded or self.tests_error or self.build.error:
            return False
        if self.open is not None:
            self._add(Row(self.open, None, cause or Outcome.EARLY_EXIT))
        elif not self.done or not self._remaining():
            return False
        elif not self.job.block:
            self._add(Row(self._remaining()[0], None, cause or Outcome.EARLY_EXIT))
        return not self.job.block and bool(self._remaining()) and cause is not Outcome.TIMEOUT_WALL

    def _measurement(self, facts: Frame) -> Measurement:
        return Measurement(rows=(), facts={}, **facts)

    def _overdue(self) -> Measurement:
        """Return the facts of a box we had to kill: only our clock has something to say."""
        wall = time.monotonic() - self.began
        return Measurement(
            loaded=True,
            rows=(),
            exit_status=None,
            signal=None,
            out_of_memory=False,
            cpu_exceeded=False,
            wall_exceeded=True,
            output_exceeded=False,
            cpu_seconds=0.0,
            wall_seconds=wall,
            memory_bytes=0,
        )

    def _sum(self, facts: dict[str, str]) -> Measurement:
        """Return one measurement for all processes of the run: the first bad end stands for the whole."""
        first = self.ends[0]
        bad = next(
            (end for end in self.ends if cause_of_end(end) is not None or end.exit_status != 0), self.ends[-1]
        )
        load_error = first.load_error
        loaded = first.loaded and not self._left_unbegun()
        if not loaded and not load_error:
            load_error = f"The program left while it was being loaded, with status {first.exit_status}."
        return replace(
            bad,
            loaded=loaded and not self.tests_error and not self.build.error,
            load_error=self.build.error or self.tests_error or ("" if loaded else storable(load_error)),
            rows=(*self.rows, *self._not_reached()),
            out_of_memory=any(end.out_of_memory for end in self.ends),
            cpu_exceeded=any(end.cpu_exceeded for end in self.ends),
            wall_exceeded=any(end.wall_exceeded for end in self.ends),
            output_exceeded=any(end.output_exceeded for end in self.ends),
            cpu_seconds=max(end.cpu_seconds for end in self.ends),
            wall_seconds=max(end.wall_seconds for end in self.ends),
            memory_bytes=max(end.memory_bytes for end in self.ends),
            stdout=self._joined([end.stdout for end in self.ends]),
            stderr=self._joined([end.stderr for end in self.ends]),
            opaque=self.opaque,
            facts=facts | self.build.facts | ({"network": self.network} if self.network else {}),
        )

    def _left_unbegun(self) -> bool:
        """Return whether a program that was built ended before its first test: what it does then is its loading."""
        return "build_seconds" in self.build.facts and bool(self.job.expected) and not self.rows

    def _joined(self, texts: list[str]) -> str:
        return storable("".join(texts)[: 2 * self.job.limits.output_bytes])

    def _not_reached(self) -> list[Row]:
        """Return a row for every assertion that stands in a test and was not reached: NOT_RUN.

        FAILED where the test is said to have PASSED and could not without it.
        """
        reached = {(row.test, row.assertion) for row in self.rows}
        passed = {row.test for row in self.rows if row.assertion is None and row.outcome is Outcome.PASSED}
        return [
            Row(
                planned.test,
                planned.assertion,
                Outcome.FAILED if planned.certain and planned.test in passed else Outcome.NOT_RUN,
                line=planned.line,
            )
            for planned in self.prepared.planned
            if (planned.test, planned.assertion) not in reached
        ]


def _without_cause(end: Measurement) -> Measurement:
    """Return the end of a process as if it had ended by itself."""
    return replace(
        end,
        exit_status=1,
        signal=None,
        out_of_memory=False,
        cpu_exceeded=False,
        wall_exceeded=False,
        output_exceeded=False,
    )
