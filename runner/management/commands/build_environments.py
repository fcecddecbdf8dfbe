"""manage.py build_environments: build the images that are missing, and store them."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from runner.environments.recipe import BuildFailed, recipes
from runner.provisioning import provision


class Command(BaseCommand):
    """Build the usual environments, or the named ones; an image that exists is found by its recipe and kept."""

    help = "Build the images in which versions run, and store their digests. Doing it twice changes nothing."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take --name, any number of times."""
        parser.add_argument("--name", action="append", choices=list(recipes()), help="only this environment")

    def handle(self, *args: Any, **options: Any) -> None:
        """Build one after the other, saying what is done; raise CommandError where one could not be built."""
        failed = []
        for name in options["name"] or [name for name, recipe in recipes().items() if recipe.usual]:
            try:
                environment = provision(recipes()[name], progress=self.say)
            except BuildFailed as error:
                failed.append(f"{name}: {error}")
                continue
            size = (environment.size_bytes or 0) / 1e6
            self.say(
                f"{name}: {environment.image_digest}, {size:.0f} MB, {len(environment.packages)} packages"
            )
        if failed:
            raise CommandError("\n".join(failed))

    def say(self, line: str) -> None:
        """Print a line at once, also into a pipe."""
        self.stdout.write(line)
        self.stdout.flush()
