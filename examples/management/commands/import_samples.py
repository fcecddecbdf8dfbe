"""manage.py import_samples FILE --dataset NAME --model NAME: a model's samples come in, what cannot is named with its remedy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from examples.evaluation.creating import EvaluationRefused
from examples.evaluation.importing import import_file
from examples.evaluation.options import add_options, name_of, over_of, rules_of
from examples.evaluation.placing import Incoming


class Command(BaseCommand):
    """Import a file of model samples into an evaluation, which is made where there is none of that name."""

    help = (
        "Import model samples: HumanEval's samples.jsonl, CodeT's, outputs of Exec-CSN's inference, or "
        "Benchwright's own JSON Lines (plain or .gz). How the model was asked is recorded as far as it is said."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the file, the evaluation, and whether to try only."""
        parser.add_argument("file", type=Path)
        add_options(parser)
        parser.add_argument(
            "--dry-run", action="store_true", help="report what would happen and change nothing"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Import, print the counts and every problem; exit 1 when no sample could come in."""
        try:
            stream = options["file"].open("rb")
        except OSError as error:
            raise CommandError(f"{options['file']}: {error.strerror}.") from error
        with stream:
            try:
                name, incoming = self._run(stream, options)
            except EvaluationRefused as refusal:
                raise CommandError(str(refusal)) from refusal
        for problem in incoming.problems:
            self.stderr.write(str(problem))
        would = "would be " if options["dry_run"] else ""
        self.stdout.write(
            f"{name}: {incoming.read} records read; {incoming.added} samples {would}added, "
            f"{incoming.unchanged} unchanged, {len(incoming.problems)} problems."
        )
        if incoming.refused:
            raise CommandError("No sample could come in.")

    def _run(self, stream: Any, options: dict[str, Any]) -> tuple[str, Incoming]:
        over = over_of(options)
        name = name_of(options, over)
        incoming = import_file(
            stream,
            over,
            name=name,
            model_name=options["model"],
            rules=rules_of(options),
            file_name=options["file"].name,
            by=None,
            dry_run=options["dry_run"],
            tell=self._tell,
        )
        return name, incoming

    def _tell(self, incoming: Incoming) -> None:
        if self.stdout.isatty():
            self.stdout.write(f"\r{incoming.added + incoming.unchanged:,} samples", ending="")
