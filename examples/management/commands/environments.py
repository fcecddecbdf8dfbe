"""manage.py environments: list, add, build and prune environments; which Pythons there are."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from examples import environments as asking
from examples.environments import NotAsked
from runner import builds
from runner.environments.recipe import BuildFailed
from runner.models import Build, Environment


class Command(BaseCommand):
    """What the curator's page offers, on the host of the engine: `add` and `build` build at once, in this process."""

    help = "Environments that are asked for: list, add, build, prune; pythons says what Debian offers."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the action and what it needs."""
        actions = parser.add_subparsers(dest="action", required=True)
        actions.add_parser("list", help="every environment: digest, size, packages, versions in it")
        actions.add_parser("pythons", help="look at the Debian mirror and say which Pythons it offers")
        add = actions.add_parser("add", help="a new environment, built at once")
        add.add_argument("name")
        add.add_argument("--python", required=True, help="such as 3.11; one of `environments pythons`")
        add.add_argument(
            "--package", action="append", default=[], metavar="NAME==VERSION", help="any number of times"
        )
        add.add_argument("--later", action="store_true", help="leave the building to a worker")
        build = actions.add_parser("build", help="build it where its image is missing")
        build.add_argument("name")
        prune = actions.add_parser("prune", help="remove what nothing names, and its images")
        prune.add_argument("--dry-run", action="store_true", help="only say what would be removed")

    def handle(self, *args: Any, **options: Any) -> None:
        """Do what was asked for. Raises CommandError with the reason and what helps."""
        getattr(self, f"_{options['action']}")(**options)

    def _list(self, **_: Any) -> None:
        for each in Environment.objects.all():
            size = f"{each.size_bytes / 1e6:.0f} MB" if each.size_bytes else "not built"
            self._say(
                f"{each.name}: {each.language} {each.language_version}, {len(each.packages)} packages, {size}, "
                f"{each.versions.count()} versions, {each.image_digest or 'no image'}"
            )

    def _pythons(self, **_: Any) -> None:
        builds.ask_suites()
        builds.look_at_suites()
        for each in asking.pythons():
            self._say(f"{each.version}: Debian {each.suite} {each.package}".rstrip())

    def _add(self, *, name: str, python: str, package: list[str], later: bool, **_: Any) -> None:
        if python not in {each.version for each in asking.pythons()}:
            builds.ask_suites()
            builds.look_at_suites()
        try:
            made = asking.ask_environment(
                name=name, python=python, packages="\n".join(package), by=None, wake=later
            )
        except NotAsked as refusal:
            raise CommandError(str(refusal)) from refusal
        if not later:
            self._run(made)

    def _build(self, *, name: str, **_: Any) -> None:
        found = Environment.objects.filter(name=name).first()
        if found is None:
            raise CommandError(f"There is no environment {name}. `environments list` names them.")
        self._run(found)

    def _run(self, environment: Environment) -> None:
        """Build in this process, saying what is done."""
        asked = builds.ask_build(environment)
        done = builds.run_build(asked.pk, say=self._say)
        if done is None:
            raise CommandError("A worker is building it already; its page shows the log.")
        if done.state == Build.State.FAILED:
            raise CommandError(done.problem)
        environment.refresh_from_db()
        size = (environment.size_bytes or 0) / 1e6
        what = "built" if done.fresh else "nothing to do"
        self._say(f"{environment.name}: {what}, {environment.image_digest}, {size:.0f} MB")

    def _prune(self, *, dry_run: bool, **_: Any) -> None:
        names = list(asking.unused().values_list("name", flat=True))
        if dry_run:
            self._say(f"Would be removed: {', '.join(names) or 'nothing'}.")
            return
        self._say(f"Removed: {', '.join(asking.remove_unused(names, by=None, wake=False)) or 'nothing'}.")
        try:
            for gone in asking.sweep():
                self._say(f"{gone.digest}: {gone.size / 1e6:.0f} MB left the engine")
        except BuildFailed as failed:
            raise CommandError(str(failed)) from failed

    def _say(self, line: str) -> None:
        """Print a line at once, also into a pipe."""
        self.stdout.write(line)
        self.stdout.flush()
