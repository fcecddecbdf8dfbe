"""manage.py prepare_site: everything a site needs before it is served; what is done already is not done again."""

from __future__ import annotations

from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from annotation import demo
from config.assets import collect_if_changed


class Command(BaseCommand):
    """Migrate, collect static files, build images, and on an empty site make the demo."""

    help = "Prepare the database, the static files, the images and, on an empty site, the demo."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Take --without-engine: no Docker engine answers, so images are left for the next start."""
        parser.add_argument("--without-engine", action="store_true", help="build no images now")
        parser.add_argument("--without-demo", action="store_true", help="make no demo accounts and examples")

    def handle(self, *args: Any, **options: Any) -> None:
        """Do what is missing; raise CommandError on Ctrl-C, after which a new start goes on where this one was."""
        try:
            self.prepare(**options)
        except KeyboardInterrupt:
            raise CommandError("Stopped. Start it again: it goes on from here.", returncode=130) from None

    def prepare(self, *, without_engine: bool, without_demo: bool, **_: Any) -> None:
        """Do what is missing, in order, one line for each step that had work."""
        executor = MigrationExecutor(connection)
        steps = executor.migration_plan(executor.loader.graph.leaf_nodes())
        if steps:
            self.say(f"Database: {len(steps)} migrations to apply.")
            call_command("migrate", interactive=False, verbosity=0)
        if collect_if_changed():
            self.say("Static files collected and compressed.")
        if not without_engine:
            self.build()
        if not without_demo:
            self.make_demo()

    def make_demo(self) -> None:
        """Make the demo's accounts and examples on a site that has none."""
        if demo.import_dataset():
            self.say(f"Demo dataset imported: {demo.progress().total} examples; the worker checks them.")
        if passwords := demo.make_accounts():
            self.say("Accounts made. These passwords are shown once; `make passwords` makes new ones:")
            for name, word in passwords.items():
                self.stdout.write(f"    {name:<12} {word}")
            self.stdout.flush()

    def build(self) -> None:
        """Build the images that are missing; one that cannot be built stops no start."""
        try:
            call_command("build_environments", stdout=self.stdout)
        except CommandError as error:
            self.say(f"{error} Examples that need it stay unchecked; the next start tries again.")

    def say(self, line: str) -> None:
        """Print a line at once, also into a pipe."""
        self.stdout.write(f"benchwright: {line}")
        self.stdout.flush()
