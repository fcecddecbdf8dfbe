"""manage.py import_examples FILE --dataset NAME: records come in, what cannot is named with its remedy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.core.validators import validate_slug
from kombu.exceptions import OperationalError

from examples.importing.store import State, store_stream
from examples.models import Dataset, ImportReport
from examples.tasks import wake_bulk_work


class Command(BaseCommand):
    """Import a file of Exec-CSN, HumanEval or Benchwright records."""

    help = "Import Exec-CSN JSON, HumanEval JSON Lines or Benchwright JSON Lines (plain or .gz)."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the file, the dataset's name, its licence, and whether to try only."""
        parser.add_argument("file", type=Path)
        parser.add_argument(
            "--dataset", required=True, help="name (letters, digits, - and _); made when it is new"
        )
        parser.add_argument(
            "--licence", default="", help="the dataset's licence, such as MIT, where it has none yet"
        )
        parser.add_argument(
            "--dry-run", action="store_true", help="report what would happen and change nothing"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Import, print the counts and every problem; exit 1 when no record could come in."""
        try:
            validate_slug(options["dataset"])
        except ValidationError as error:
            raise CommandError(
                f"--dataset {options['dataset']!r}: use letters, digits, - and _ only."
            ) from error
        try:
            stream = options["file"].open("rb")
        except OSError as error:
            raise CommandError(f"{options['file']}: {error.strerror}.") from error
        with stream:
            report = self._run(stream, options)
        if report.state == State.FAILED:
            raise CommandError(report.message)
        if not options["dry_run"]:
            self._wake()

    def _wake(self) -> None:
        """Let workers check what came in; without a queue they find it themselves once they run."""
        try:
            wake_bulk_work()
        except OperationalError:
            self.stdout.write("No queue answers now: the checks begin when the site runs.")

    def _run(self, stream: Any, options: dict[str, Any]) -> ImportReport:
        """Import the stream and print what happened. A dry run keeps not even its report."""
        name, dry_run = options["dataset"], options["dry_run"]
        if options["licence"] and not dry_run:
            Dataset.objects.get_or_create(name=name, defaults={"title": name, "source": options["file"].name})
            Dataset.objects.filter(name=name, licence="").update(licence=options["licence"])
        report = ImportReport(
            dataset_name=name, file_name=options["file"].name, dry_run=dry_run, state=State.RUNNING
        )
        if not dry_run:
            report.dataset = Dataset.objects.filter(name=name).first()
            report.save()
            self._tell(store_stream(stream, report))
            return report
        report.save()
        try:
            self._tell(store_stream(stream, report))
        finally:
            report.delete()
        return report

    def _tell(self, report: ImportReport) -> None:
        for problem in report.problems.all():
            place = f"record {problem.number}, line {problem.line}" if problem.number else "the file"
            self.stderr.write(f"{place}, {problem.field}: {problem.message}. {problem.remedy}")
        would = "would be " if report.dry_run else ""
        self.stdout.write(
            f"{report.read} read: {report.added} {would}added, {report.changed} {would}changed, "
            f"{report.unchanged} unchanged, {report.problem_count} with problems; "
            f"{report.duplicates} of the added have the content of an example that is there already."
        )
