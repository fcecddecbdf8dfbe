"""manage.py score_samples EVALUATION...: execute model samples that have no outcome yet, and print pass@k."""

from __future__ import annotations

import atexit
import threading
import time
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection

from examples.evaluation.choosing import evaluation_called
from examples.evaluation.creating import EvaluationRefused
from examples.evaluation.executing import execute_here, open_executions
from examples.evaluation.progress import progress
from examples.evaluation.reporting import report_lines
from examples.evaluation.scoring import Asked, score_evaluation
from examples.models import Evaluation
from runner import boxes

SAY_EVERY_SECONDS = 5.0


class Command(BaseCommand):
    """Score evaluations; called again it goes on where it was cut off."""

    help = (
        "Execute an evaluation's samples and print pass@k. What was executed before is not executed again; what stayed "
        "unjudged is tried again. The site's workers do the work; with --here this process does."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the evaluations, the k of pass@k, and who executes."""
        parser.add_argument("evaluations", nargs="+", metavar="EVALUATION")
        parser.add_argument("--k", type=int, action="append", help="k of pass@k; may be given several times")
        parser.add_argument("--here", action="store_true", help="execute in this process: no site need run")
        parser.add_argument("--at-once", type=int, default=2, help="programs at a time, with --here")
        parser.add_argument("--no-wait", action="store_true", help="ask for the executions and leave")

    def handle(self, *args: Any, **options: Any) -> None:
        """Score one evaluation after the other, saying how far it is."""
        if options["at_once"] < 1 or any(k < 1 for k in options["k"] or ()):
            raise CommandError("--at-once and --k are above 0.")
        for name in options["evaluations"]:
            try:
                evaluation = evaluation_called(name)
                asked = score_evaluation(evaluation, tell=self._tell_asked)
            except EvaluationRefused as refusal:
                raise CommandError(str(refusal)) from refusal
            self.stdout.write(
                f"{name}: {asked.executions:,} executions asked for, {asked.reused:,} samples had one already, "
                f"{asked.retried:,} tried again."
            )
            if options["no_wait"]:
                continue
            self._wait(evaluation, options)
            self.stdout.write("\n".join(report_lines(evaluation, ks=options["k"])))

    def _wait(self, evaluation: Evaluation, options: dict[str, Any]) -> None:
        """Say how far it is until all has ended."""
        if not options["here"]:
            while open_executions(evaluation):
                self._tell(evaluation)
                time.sleep(SAY_EVERY_SECONDS)
            return
        atexit.register(boxes.close)
        ended = threading.Event()
        said = threading.Thread(target=self._tell_until, args=(evaluation, ended), daemon=True)
        said.start()
        try:
            execute_here(evaluation, at_once=options["at_once"])
        finally:
            ended.set()
            said.join()

    def _tell_until(self, evaluation: Evaluation, ended: threading.Event) -> None:
        try:
            while not ended.wait(SAY_EVERY_SECONDS):
                self._tell(evaluation)
        finally:
            connection.close()

    def _tell(self, evaluation: Evaluation) -> None:
        now = progress(evaluation)
        left = "" if now.seconds_left is None else f", about {now.seconds_left:.0f} s left"
        unjudged = f", {now.unjudged:,} unjudged" if now.unjudged else ""
        self.stderr.write(f"{now.judged:,} of {now.samples:,} judged{unjudged}{left}")

    def _tell_asked(self, asked: Asked) -> None:
        done = asked.executions + asked.reused
        if done % 5000 < 100:
            self.stderr.write(f"{done:,} samples prepared")
