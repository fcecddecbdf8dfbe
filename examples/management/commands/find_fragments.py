"""manage.py find_fragments SOURCE --run NAME: functions become fragments of a generation run, the rest says why not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.core.validators import validate_slug

from examples.generation.fragments.base import SourceRefused
from examples.generation.fragments.reading import read_path
from examples.generation.fragments.runs import plain_run
from examples.generation.fragments.screening import OUTSIDE, Wanted
from examples.generation.fragments.taking import Taken, take_fragments
from examples.models import GenerationRun


class Command(BaseCommand):
    """Find fragments in a folder, wheel, zip, CodeSearchNet file or Python file."""

    help = "Find fragments in a checkout, .whl, .zip, CodeSearchNet .jsonl or .py file; nothing of it is executed."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the source, the run, and what a fragment has to be."""
        parser.add_argument("source", type=Path)
        parser.add_argument(
            "--run", required=True, help="the run's name; one without a model is made when it is new"
        )
        parser.add_argument(
            "--dataset", default="", help="where a new run's examples go; made when it is new"
        )
        parser.add_argument("--environment", default="", help="of a new run; default: the smallest there is")
        parser.add_argument(
            "--function", default="", help="the only function wanted of a .py file, as Class.method"
        )
        parser.add_argument("--licence", default="", help="such as MIT, where the source itself names none")
        parser.add_argument("--most-lines", type=int, default=200, help="of a function's body; default 200")
        parser.add_argument(
            "--allow",
            action="append",
            default=[],
            choices=[each.value for each in OUTSIDE],
            help="take fragments that touch this, too",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Take the fragments and print how many wait, how many were left out and why."""
        try:
            run = self._run(options)
            wanted = Wanted(
                most=options["most_lines"],
                refused=frozenset(each for each in OUTSIDE if each.value not in options["allow"]),
                doctests=run.path == GenerationRun.Path.PLAIN,
            )
            files = read_path(options["source"], function=options["function"], licence=options["licence"])
            self._tell(run, take_fragments(run, files, wanted))
        except SourceRefused as error:
            raise CommandError(str(error)) from error

    def _run(self, options: dict[str, Any]) -> GenerationRun:
        run = GenerationRun.objects.filter(name=options["run"]).first()
        if run is not None:
            return run
        if not options["dataset"]:
            raise CommandError(f"There is no run called {options['run']}. Name a --dataset to make one.")
        for name in ("run", "dataset"):
            try:
                validate_slug(options[name])
            except ValidationError as error:
                raise CommandError(
                    f"--{name} {options[name]!r}: use letters, digits, - and _ only."
                ) from error
        return plain_run(options["run"], dataset=options["dataset"], environment=options["environment"])

    def _tell(self, run: GenerationRun, taken: Taken) -> None:
        for reason, count in taken.left_out.most_common():
            self.stdout.write(f"{count:6} left out: {reason}")
        known = f", {taken.known} were there before" if taken.known else ""
        self.stdout.write(f"{taken.waiting:6} wait in run {run.name}{known}.")
