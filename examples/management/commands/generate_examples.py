"""manage.py generate_examples: start, resume, stop and replay generation runs, and work on them in this process."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.core.validators import validate_slug
from django.db import connections
from django.db.models import Count

from examples.generation.budget import MILLION
from examples.generation.fragments.base import SourceRefused
from examples.generation.fragments.reading import read_path
from examples.generation.fragments.runs import environment_of
from examples.generation.fragments.screening import Wanted
from examples.generation.fragments.taking import take_fragments
from examples.generation.running import generate
from examples.generation.runs import Options, RunRefused, go_on, halt_run, replay_run, resume_run, start_run
from examples.generation.waking import waiting_fragments
from examples.models import Dataset, Fragment, GenerationRun


class Command(BaseCommand):
    """What the curator's page offers, from a terminal; `--later` leaves the work to workers."""

    help = "Make examples from fragments by a model: start, resume, stop, replay."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the action and what it needs."""
        actions = parser.add_subparsers(dest="action", required=True)
        start = actions.add_parser("start", help="a new run over the functions of a source")
        start.add_argument("name")
        start.add_argument(
            "--from", dest="source", type=Path, required=True, help="checkout, wheel, zip, .jsonl, .py"
        )
        start.add_argument(
            "--function", default="", help="the only one wanted of a .py file, as Class.method"
        )
        start.add_argument("--dataset", required=True, help="where examples go; made when it is new")
        start.add_argument(
            "--licence", default="", help="such as MIT, where neither source nor dataset names one"
        )
        start.add_argument("--environment", default="", help="default: the smallest there is")
        start.add_argument("--model", default="", help="default: BENCHWRIGHT_LLM_MODEL")
        start.add_argument("--temperature", type=float, default=0.0)
        start.add_argument("--seed", type=int, default=0)
        start.add_argument("--max-tokens", type=int, default=2048, help="of one reply")
        start.add_argument("--json", action="store_true", help="the endpoint can be held to JSON")
        start.add_argument(
            "--rounds", type=int, default=3, help="at most so many repairs, and further questions"
        )
        start.add_argument("--augment", action="store_true", help="add tests with the reference as oracle")
        start.add_argument("--review", action="store_true", help="what held awaits a curator")
        start.add_argument("--prompt-price", type=_millionths, default=0, help="of a million prompt tokens")
        start.add_argument(
            "--reply-price", type=_millionths, default=0, help="of a million tokens of replies"
        )
        resume = actions.add_parser("resume", help="let a run go on, also one without a model")
        resume.add_argument("name")
        replay = actions.add_parser("replay", help="let a recorded run answer again, offline")
        replay.add_argument("name")
        replay.add_argument("--as", dest="new", required=True, help="name of the new run")
        for action in (start, resume):
            action.add_argument("--budget-tokens", type=int, default=None)
            action.add_argument("--budget", type=_millionths, default=None, help="money, such as 2.50")
        for action in (start, resume, replay):
            action.add_argument("--later", action="store_true", help="leave the work to workers")
        actions.add_parser("stop", help="stop a run; what is under way ends with its round").add_argument(
            "name"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Do what was asked for. Raises CommandError with the reason and what helps."""
        try:
            getattr(self, f"_{options['action']}")(**options)
        except (RunRefused, SourceRefused) as refusal:
            raise CommandError(str(refusal)) from refusal

    def _start(self, *, name: str, source: Path, dataset: str, later: bool, **options: Any) -> None:
        for option, value in (("NAME", name), ("--dataset", dataset)):
            _refuse_no_slug(option, value)
        environment = environment_of(options["environment"])
        target, _ = Dataset.objects.get_or_create(
            name=dataset, defaults={"title": dataset, "licence": options["licence"], "source": source.name}
        )
        run = start_run(name, dataset=target, environment=environment, options=_options(options), by=None)
        files = read_path(source, function=options["function"], licence=options["licence"])
        taken = take_fragments(run, files, Wanted())
        for reason, count in taken.left_out.most_common():
            self._say(f"{count:6} left out: {reason}")
        if not taken.waiting:
            raise CommandError(f"No function of {source} is fit. Its fragments say why.")
        go_on(run, wake=later)
        self._work(run, later=later)

    def _resume(self, *, name: str, later: bool, **options: Any) -> None:
        run = _named(name)
        resume_run(
            run, by=None, budget_tokens=options["budget_tokens"], budget_micros=options["budget"], wake=later
        )
        self._work(run, later=later)

    def _replay(self, *, name: str, new: str, later: bool, **_: Any) -> None:
        _refuse_no_slug("--as", new)
        run = replay_run(_named(name), name=new, by=None)
        go_on(run, wake=later)
        self._work(run, later=later)

    def _stop(self, *, name: str, **_: Any) -> None:
        self._say("Stopped." if halt_run(_named(name), by=None) else f"{name} is not running.")

    def _work(self, run: GenerationRun, *, later: bool) -> None:
        """Bring the run's fragments to their ends here, several at once, and say what became of each."""
        if later:
            self._say(f"{run.fragments.open().count()} fragments wait for workers.")
            return
        ids = waiting_fragments(at_most=run.fragments.count(), run=run)
        with ThreadPoolExecutor(settings.LLM_CONCURRENCY) as threads:
            for fragment_id in threads.map(_in_thread(generate), ids):
                self._tell(Fragment.objects.get(pk=fragment_id))
        run.refresh_from_db()
        self._say(f"Run {run.name} is {run.state}. {run.reason}".rstrip())
        for state, count in run.fragments.values_list("state").annotate(Count("pk")).order_by("state"):
            self._say(f"{count:6} {Fragment.State(state).label}")
        self._say(f"{run.charged_tokens} tokens, {run.charged_micros / MILLION:.4f} charged.")

    def _tell(self, fragment: Fragment) -> None:
        why = f" ({fragment.reason_code}: {fragment.reason})" if fragment.reason_code else ""
        self._say(f"{fragment.number:4} {fragment.function}: {fragment.get_state_display()}{why}")

    def _say(self, line: str) -> None:
        """Print a line at once, also into a pipe."""
        self.stdout.write(line)
        self.stdout.flush()


def _in_thread(work: Callable[[int], object]) -> Callable[[int], int]:
    """Return the work as a thread does it: its connections closed behind it, the id handed on."""

    def done(fragment_id: int) -> int:
        try:
            work(fragment_id)
        finally:
            connections.close_all()
        return fragment_id

    return done


def _options(options: dict[str, Any]) -> Options:
    return Options(
        model=options["model"],
        temperature=options["temperature"],
        seed=options["seed"],
        max_tokens=options["max_tokens"],
        json_mode=options["json"],
        prompt_micros=options["prompt_price"],
        completion_micros=options["reply_price"],
        rounds=options["rounds"],
        augment=options["augment"],
        review=options["review"],
        budget_tokens=options["budget_tokens"],
        budget_micros=options["budget"],
    )


def _named(name: str) -> GenerationRun:
    found = GenerationRun.objects.filter(name=name).first()
    if found is None:
        raise CommandError(f"There is no generation run {name}.")
    return found


def _refuse_no_slug(option: str, value: str) -> None:
    try:
        validate_slug(value)
    except ValidationError as error:
        raise CommandError(f"{option} {value!r}: use letters, digits, - and _ only.") from error


def _millionths(text: str) -> int:
    """Return an amount of money in millionths. Raises ValueError, which argparse turns into a message."""
    try:
        amount = Decimal(text) * MILLION
    except InvalidOperation as error:
        raise ValueError(text) from error
    if amount < 0 or amount != amount.to_integral_value():
        raise ValueError(text)
    return int(amount)
