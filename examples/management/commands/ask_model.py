"""manage.py ask_model --dataset NAME --model NAME --n 20: ask an endpoint for samples, with what an annotator sees."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from examples.evaluation.asking import AskedModel, ask_model, first_problems
from examples.evaluation.creating import EvaluationRefused, evaluation_named
from examples.evaluation.options import add_options, name_of, over_of, rules_of
from examples.evaluation.questions import prompt_version
from examples.llm import ModelRefused
from examples.llm.endpoint import configured
from examples.models import Evaluation


class Command(BaseCommand):
    """Ask the configured endpoint for the samples an evaluation lacks; called again it goes on where it was cut off."""

    help = (
        "Ask the endpoint that BENCHWRIGHT_LLM_URL names for samples, with exactly what an annotator sees: instruction, "
        "context, visible tests. n, temperature, top_p, max_tokens, seed and the prompt's version are recorded."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the evaluation, the seed, what is shown, and the budget."""
        add_options(parser)
        parser.set_defaults(n=1, temperature=0.0, max_tokens=1024)
        parser.add_argument("--seed", type=int, help="of the first sample; each further one has the next")
        parser.add_argument(
            "--hide-tests", action="store_true", help="show no visible tests, as some studies do"
        )
        parser.add_argument("--budget-tokens", type=int, help="end before a question that might exceed it")

    def handle(self, *args: Any, **options: Any) -> None:
        """Ask, say how far it is, and what remains; exit 1 where the run ended early."""
        parameters = {"prompt": prompt_version(), "visible_tests": not options["hide_tests"]}
        if options["seed"] is not None:
            parameters["seed"] = options["seed"]
        try:
            model = configured()
            over = over_of(options)
            evaluation = evaluation_named(
                name_of(options, over),
                over,
                model_name=options["model"],
                origin=Evaluation.Origin.ENDPOINT,
                rules=rules_of(options, **parameters),
                by=None,
            )
        except (EvaluationRefused, ModelRefused) as refusal:
            raise CommandError(str(refusal)) from refusal
        done = ask_model(
            evaluation,
            model,
            at_once=settings.LLM_CONCURRENCY,
            budget_tokens=options["budget_tokens"],
            tell=self._tell,
        )
        for problem in first_problems(done):
            self.stderr.write(problem)
        self.stdout.write(
            f"{evaluation.name}: {done.kept:,} replies kept, {done.failed:,} questions without an answer, "
            f"{done.tokens:,} tokens in all. Score it with: manage.py score_samples {evaluation.name}"
        )
        if done.stopped:
            raise CommandError(f"Ended early: {done.stopped} Run the same command again to go on.")

    def _tell(self, done: AskedModel) -> None:
        if (done.kept + done.failed) % 20 == 0:
            self.stderr.write(f"{done.kept:,} replies, {done.tokens:,} tokens")
