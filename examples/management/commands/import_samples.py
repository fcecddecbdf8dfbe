"""manage.py import_samples FILE --dataset NAME --model NAME: a model's samples come in, what cannot is named with its remedy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.core.validators import validate_slug

from examples.evaluation.choosing import dataset_named, default_name, environment_named, split_named
from examples.evaluation.creating import EvaluationRefused, Rules, evaluation_named, versions_over
from examples.evaluation.importing import Incoming, import_samples, try_samples
from examples.models import Evaluation


class Command(BaseCommand):
    """Import a file of model samples into an evaluation, which is made where there is none of that name."""

    help = (
        "Import model samples: HumanEval's samples.jsonl, CodeT's, outputs of Exec-CSN's inference, or "
        "Benchwright's own JSON Lines (plain or .gz)."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the file, what it is over, the model, how it was asked, how it is judged, and whether to try only."""
        parser.add_argument("file", type=Path)
        over = parser.add_mutually_exclusive_group(required=True)
        over.add_argument("--dataset", default="", help="the samples are for a dataset's current versions")
        over.add_argument("--release", default="", help="a frozen release's split: NAME@NUMBER/SPLIT")
        parser.add_argument("--model", required=True, help="the model's own name")
        parser.add_argument(
            "--name", default="", help="the evaluation's name; else made of model and dataset"
        )
        parser.add_argument("--n", type=int, help="samples asked for an example, as far as known")
        parser.add_argument("--temperature", type=float)
        parser.add_argument("--top-p", type=float)
        parser.add_argument("--max-tokens", type=int)
        parser.add_argument(
            "--cpu-limit", type=float, help="seconds of CPU for every sample; else each version's own limit"
        )
        parser.add_argument(
            "--environment", default="", help="one environment for all; else each version's own"
        )
        parser.add_argument(
            "--unchecked", action="store_true", help="take a dataset's versions before their checks passed"
        )
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
        over = dataset_named(options["dataset"]) if options["dataset"] else split_named(options["release"])
        name = options["name"] or default_name(options["model"], over)
        try:
            validate_slug(name)
        except ValidationError as error:
            raise EvaluationRefused(f"--name {name!r}: use letters, digits, - and _ only.") from error
        rules = Rules(
            samples_asked=options["n"],
            temperature=options["temperature"],
            top_p=options["top_p"],
            max_tokens=options["max_tokens"],
            cpu_limit_seconds=options["cpu_limit"],
            environment=environment_named(options["environment"]),
            unchecked=options["unchecked"],
        )
        if options["dry_run"]:
            made = Evaluation.objects.filter(name=name).first()
            versions = (
                [item.version for item in made.items.select_related("version__example")]
                if made
                else versions_over(over, unchecked=rules.unchecked)
            )
            return name, try_samples(stream, versions, evaluation=made)
        evaluation = evaluation_named(
            name, over, model_name=options["model"], origin=Evaluation.Origin.FILE, rules=rules, by=None
        )
        return name, import_samples(
            stream, evaluation, file_name=options["file"].name, by=None, tell=self._tell
        )

    def _tell(self, incoming: Incoming) -> None:
        if self.stdout.isatty():
            self.stdout.write(f"\r{incoming.added + incoming.unchanged:,} samples", ending="")
