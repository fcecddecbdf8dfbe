"""GENERATE: what the steps share: a fragment under a claim, its rounds, and how a round is asked for and kept."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction

from examples.generation import calls, prompts
from examples.generation.claims import Claim
from examples.generation.rules import Allowed, RuleBroken, wishes_of
from examples.generation.standing import Standing, Ways
from examples.llm import Model, Reply
from examples.models import Call, Fragment, GenerationRun, PackageWish, Round, Step
from runner.models import Execution, bounded
from runner.queueing import execute_now
from runner.sandbox.base import Job

TOO_DEEP = "the code is nested too deeply to be looked at."


class Unjudged(Exception):
    """An execution could not be judged, by our fault; the message says why."""


@dataclass
class Work:
    """A fragment that this worker has claimed, and whom to ask."""

    fragment: Fragment
    claim: Claim
    model: Model
    standing: Standing = field(init=False)

    def __post_init__(self) -> None:
        """Read the rounds."""
        self.look()

    @property
    def run(self) -> GenerationRun:
        """The run the fragment belongs to."""
        return self.fragment.run

    @property
    def ways(self) -> Ways:
        """What the run does."""
        asks = self.run.path == GenerationRun.Path.MODEL
        return Ways(rounds=self.run.rounds, augment=self.run.augment, asks=asks)

    @property
    def allowed(self) -> Allowed:
        """What program and tests may import."""
        return Allowed(frozenset(self.run.environment.provides))

    @property
    def provided(self) -> str:
        """Which Python runs it and what there is to import, in words."""
        # Without the patch level: an image that is built again must not change what is asked.
        python = "Python " + (".".join(self.run.environment.language_version.split(".")[:2]) or "3")
        names = ", ".join(self.run.environment.provides)
        return (
            f"{python}, its standard library and {names}"
            if names
            else f"{python} and its standard library alone"
        )

    def look(self) -> None:
        """Read the rounds as they stand now."""
        rounds = self.fragment.rounds.select_related("execution", "call").order_by("number")
        self.standing = Standing(list(rounds))

    def execute(self, job: Job) -> Execution:
        """Return the finished execution of a job. Raises Unjudged, claims.ClaimLost, boxes.Closing."""
        self.claim.renew()
        execution = execute_now(job, environment=self.run.environment)
        if execution.state != Execution.State.FINISHED:
            raise Unjudged(execution.reason)
        return execution

    def keep(self, *, step: Step, subject: str, text: str, **fields: Any) -> Round:
        """Keep the next round, under the claim."""
        with transaction.atomic():
            self.claim.renew()
            kept = Round.objects.create(
                fragment=self.fragment,
                number=self.standing.number,
                step=step,
                subject=subject,
                text=bounded(text, calls.LONGEST_REPLY),
                **fields,
            )
        self.look()
        return kept

    def ask(
        self,
        name: str,
        values: dict[str, str],
        *,
        step: Step,
        subject: str,
        extract: Callable[[Reply], str],
        check: Callable[[str], None],
        json: bool = False,
        details: Callable[[str], dict[str, Any]] = lambda _: {},
    ) -> Round:
        """Ask for the next round and keep it, with the rule that it breaks, if any.

        `extract` gets the text out of the reply and `check` looks at it; both raise RuleBroken. `details` are further
        columns of a round that broke none.
        """
        began = time.monotonic()
        call = self.put(name, values, step=step, json=json)
        text, rule, message = "", "", ""
        try:
            text = extract(calls.reply_of(call))
            check(text)
        except RuleBroken as broken:
            rule, message = broken.rule, broken.message
        except RecursionError:
            rule, message = "syntax", TOO_DEEP
        more = {} if rule else details(text)
        seconds = time.monotonic() - began
        return self.keep(
            step=step,
            subject=subject,
            text=text,
            call=call,
            rule=rule,
            message=message,
            seconds=seconds,
            **more,
        )

    def put(self, name: str, values: dict[str, str], *, step: Step, json: bool = False) -> Call:
        """Return the recorded call of the next round, and keep the packages that its reply asks for."""
        written = prompts.write(name, **values, again=self._again(step))
        call = calls.ask(
            self.model,
            written,
            run=self.run,
            fragment=self.fragment,
            claim=self.claim,
            step=step,
            number=self.standing.number,
            json=json,
        )
        for wish in wishes_of(calls.reply_of(call), self.allowed):
            said = bounded(wish.said, 500)
            PackageWish.objects.get_or_create(
                fragment=self.fragment, package=wish.package, defaults={"said": said}
            )
        return call

    def _again(self, step: Step) -> str:
        """Return what the prompt ends with where the last round broke a rule."""
        last = self.standing.last
        if last is None or not last.rule:
            return ""
        if last.step != step and step != Step.REPAIR:
            return ""
        return prompts.again(last.rule, last.message, last.text)
