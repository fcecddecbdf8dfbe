"""manage.py open_demo_study: wait for the demo's checks, tell how they go, open the demo's study; then end."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from annotation import demo
from annotation.studies import StudyRefused

LOOKS_EVERY_SECONDS = 1.0


class Command(BaseCommand):
    """Open the demo's study as soon as every version of it has been checked."""

    help = "Wait until the demo's examples are checked, then open the demo's study. Does nothing once it was opened."
    requires_system_checks = ()

    def handle(self, *args: Any, **options: Any) -> None:
        """Print a line whenever the count grows, and one at the end; Ctrl-C ends it without a trace."""
        with suppress(KeyboardInterrupt):
            self.wait_and_open()

    def wait_and_open(self) -> None:
        """Look every second until every version has been checked or somebody else has opened the study."""
        said = None
        while demo.study_is_due():
            now = demo.progress()
            if now != said:
                self.say(f"demo: {now.checked} of {now.total} examples checked, {now.fit} fit for the study")
                said = now
            if now.done:
                self.open()
                return
            time.sleep(LOOKS_EVERY_SECONDS)

    def open(self) -> None:
        """Open the study, or say why it cannot be opened."""
        try:
            study = demo.open_demo_study(timezone.now())
        except StudyRefused as refused:
            self.say(f"demo: the study stays closed. {refused}")
            return
        versions = study.slots.values("version").distinct().count()
        self.say(
            f"demo: the study is open, {versions} examples with {study.protocol.solvers} solvers each. Sign in and solve."
        )

    def say(self, line: str) -> None:
        """Print a line at once, also into a pipe."""
        self.stdout.write(f"benchwright: {line}")
        self.stdout.flush()
