"""manage.py reproduce DATASET FILES...: a published file through our runner, beside what is known of it."""

from __future__ import annotations

import atexit
import hashlib
import sys
import time
from argparse import RawDescriptionHelpFormatter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from runner import boxes, modes
from runner.models import Environment, Execution
from runner.reproducing import verdicts
from runner.reproducing.base import FileUnusable, Format
from runner.reproducing.formats import FORMATS
from runner.reproducing.places import Places, places
from runner.reproducing.reporting import figures, limit_text, lines
from runner.reproducing.running import Result, run_all
from runner.reproducing.storing import Stored
from runner.sandbox.base import Limits, SandboxUnavailable

SAY_EVERY_SECONDS = 10.0


class Command(BaseCommand):
    """Run the programs of a published file in boxes and print the figures; exit 1 where a known one is missed."""

    help = (
        "Run the programs of a published file in containers and print how many pass, the limit beside each figure, "
        "and the samples whose verdict is not the published one. The files are yours to bring; nothing is downloaded."
    )

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """Return the parser, which lists the formats with their files below the options."""
        listed = [f"  {form.name:18} {' '.join(form.files)}" for form in FORMATS.values()]
        epilog = "formats and the files they take (.gz is read, too):\n" + "\n".join(listed)
        parser = super().create_parser(prog_name, subcommand, epilog=epilog, **kwargs)
        parser.formatter_class = RawDescriptionHelpFormatter
        return parser

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the format, its files, and how to run them."""
        parser.add_argument(
            "format", choices=list(FORMATS), metavar="DATASET", help="one of the formats below"
        )
        parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
        parser.add_argument(
            "--limit-seconds",
            type=float,
            help="CPU limit of a program; wall time is twice that and one second",
        )
        parser.add_argument(
            "--wall-seconds",
            type=float,
            help="another wall limit: a longer one where other work keeps the machine busy",
        )
        parser.add_argument(
            "--mode",
            choices=modes.SETTINGS,
            default=modes.AUTO,
            help="how programs are kept apart (auto: best here)",
        )
        parser.add_argument(
            "--store",
            choices=Execution.Queue.values,
            metavar="QUEUE",
            help="run them as executions of this queue (bulk or interactive), which stay in the database",
        )
        parser.add_argument("--environment", help="name of the environment to run in")
        parser.add_argument("--every", type=int, default=1, metavar="N", help="run each N-th sample only")
        parser.add_argument(
            "--at-once", type=int, default=2, metavar="N", help="programs at a time (default 2)"
        )
        parser.add_argument("--out", type=Path, help="write every result to this file, as JSON Lines")
        parser.add_argument("--against", type=Path, help="compare sample by sample with a file made by --out")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run, print the table, and leave with status 1 where a figure is missed or a sample was not judged."""
        form = FORMATS[options["format"]]
        self._check(form, options)
        limits = Limits.for_cpu(options["limit_seconds"] or form.cpu_seconds)
        limits = replace(limits, wall_seconds=options["wall_seconds"] or limits.wall_seconds)
        environment = _environment(options["environment"] or form.environment)
        try:
            earlier = verdicts.read(options["against"]) if options["against"] else None
            results = self._run(form, limits, environment, options)
        except (FileUnusable, SandboxUnavailable) as error:
            raise CommandError(str(error)) from error
        for line in lines(form, results, limits):
            self.stdout.write(line)
        differ = (
            list(verdicts.differing(results, earlier, part=options["every"] > 1))
            if earlier is not None
            else []
        )
        if earlier is not None:
            self.stdout.write("\n".join([f"{len(differ)} differ from {options['against']}", *differ]))
        whole = [figure for figure in figures(form, results) if figure.is_whole]
        judged = all(result.outcome is not None for result in results)
        if differ or not judged or not all(figure.holds for figure in whole):
            sys.exit(1)

    def _check(self, form: Format, options: dict[str, Any]) -> None:
        """Raise CommandError where the files or numbers cannot be meant."""
        given, wanted = len(options["files"]), len(form.files)
        if given != wanted and not (form.more_files and given > wanted):
            raise CommandError(f"{form.name} takes {wanted} file(s): {' '.join(form.files)}. Given: {given}.")
        for path in options["files"]:
            if not path.is_file():
                raise CommandError(f"{path} is no file.")
        if options["store"] and options["mode"] != modes.AUTO:
            raise CommandError("With --store, RUNNER_BULK_MODE says the mode of bulk work.")
        if options["every"] < 1 or options["at_once"] < 1 or (options["limit_seconds"] or 1) <= 0:
            raise CommandError("--every, --at-once and --limit-seconds are above 0.")
        if (options["wall_seconds"] or 1) <= 0:
            raise CommandError("--wall-seconds is above 0.")

    def _run(
        self, form: Format, limits: Limits, environment: Environment, options: dict[str, Any]
    ) -> list[Result]:
        """Say under which conditions, run, write --out as results come, and return them all."""
        image = environment.image_digest
        samples = islice(form.read(options["files"], limits), 0, None, options["every"])
        facts: dict[str, Any] = {"limit": limit_text(limits), "image": image, "seed": 0}
        with ExitStack() as stack:
            out = stack.enter_context(options["out"].open("w")) if options["out"] else None
            held = stack.enter_context(_places(environment, options))
            for line in _conditions(form, options["files"], environment, held.said):
                self.stdout.write(line)
            results = []
            for result in self._told(run_all(samples, places=held.together, alone=held.alone)):
                results.append(result)
                if out is not None:
                    verdicts.write(out, result, facts)
        return results

    def _told(self, results: Iterator[Result]) -> Iterator[Result]:
        """Pass results on, saying now and then how far it is, and in the end how fast it was."""
        began = said = time.monotonic()
        count = 0
        for count, result in enumerate(results, 1):
            yield result
            if time.monotonic() - said > SAY_EVERY_SECONDS:
                said = time.monotonic()
                self.stderr.write(f"{count:,} samples, {said - began:.0f} s")
        seconds = time.monotonic() - began
        self.stdout.write(
            f"{count:,} samples in {seconds:.1f} s, {count / max(seconds, 1e-9):.1f} per second\n"
        )


@contextmanager
def _places(environment: Environment, options: dict[str, Any]) -> Iterator[Places]:
    """Lend the places that the options ask for. Raises SandboxUnavailable."""
    if options["store"]:
        atexit.register(boxes.close)
        boxes.keep_warm()
        place = Stored(environment, options["store"])
        said = f"as executions of the queue {place.queue}, scope {place.scope}; {options['at_once']} at once"
        try:
            yield Places([place] * options["at_once"], place, said)
        finally:
            boxes.lines().close_idle(seconds=0)
        return
    image = environment.image_digest
    mode = modes.chain(image)[0] if options["mode"] == modes.AUTO else options["mode"]
    with places(mode, image, options["at_once"]) as held:
        yield held


def _environment(name: str) -> Environment:
    """Return a built environment. Raises CommandError."""
    environment = Environment.objects.filter(name=name).first()
    if environment is None or not environment.image_digest:
        raise CommandError(
            f"The environment {name} is not built. Run: python manage.py build_environments --name {name}"
        )
    return environment


def _conditions(form: Format, files: list[Path], environment: Environment, places: str) -> Iterator[str]:
    """Yield what the figures hold for: files by hash, image by digest, mode and seed."""
    for path in files:
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        yield f"{path.name}: sha256 {digest}"
    yield f"{form.title}; environment {environment.name}, image {environment.image_digest}"
    yield f"{places}; hash seed 0; no network\n"
