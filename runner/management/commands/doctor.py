"""manage.py doctor: start boxes, exceed every limit, print what holds; exit 1 where something does not."""

from __future__ import annotations

import json
import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from runner.doctor import Report, diagnose


class Command(BaseCommand):
    """Say what holds on this host."""

    help = "Start containers, exceed their limits, and print what holds on this host and what to do where it does not."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Take --json."""
        parser.add_argument("--json", action="store_true", help="print the report as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        """Print the report and leave with status 1 where something does not hold."""
        report = diagnose()
        if options["json"]:
            self.stdout.write(json.dumps(report.as_json(), indent=2))
        else:
            self.show(report)
        if not report.holds:
            sys.exit(1)

    def show(self, report: Report) -> None:
        """Print facts, modes, images and findings in columns."""
        for title, facts in (("Host", report.host), ("Modes", report.modes), ("Images", report.images)):
            if facts:
                self.stdout.write(f"\n{title}")
                for name, value in facts.items():
                    self.stdout.write(f"  {name:<14} {value or 'absent'}")
        self.stdout.write("\nWhat holds")
        for finding in report.findings:
            self.stdout.write(f"  {'holds' if finding.holds else 'FAILS'}  {finding.claim}: {finding.seen}")
            if not finding.holds:
                self.stdout.write(f"         what to do: {finding.remedy}")
        self.stdout.write(f"\n{'Everything holds.' if report.holds else 'Not everything holds.'}")
