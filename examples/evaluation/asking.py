"""EVALUATE: ask a model for the samples an evaluation lacks; a reply that is kept is never asked for again."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, NamedTuple

from examples.evaluation.questions import question
from examples.importing.base import RecordInvalid, refuse_unstorable
from examples.llm import Model, ModelRefused, Parameters, Reply, TryLater, patiently, request_of
from examples.llm.base import hash_of
from examples.models import Evaluation, EvaluationItem, ModelSample
from runner.models import bounded

LONGEST_REPLY = 1 << 20
# What chat templates put around a prompt, generously.
AROUND_A_PROMPT = 64
# So many questions in a row without an answer end a run: an endpoint that is away is not asked a thousand times.
FAILURES_IN_A_ROW = 5


@dataclass
class AskedModel:
    """What a run did: replies kept, questions without an answer, tokens as far as they are counted, and why it ended early.

    stopped   "" where everything was asked
    """

    kept: int = 0
    failed: int = 0
    tokens: int = 0
    stopped: str = ""
    problems: list[str] = field(default_factory=list)


class Question(NamedTuple):
    """A sample that is to be asked for, and what it may take at most, in tokens."""

    item: EvaluationItem
    number: int
    request: dict[str, Any]
    at_most: int


class Answered(NamedTuple):
    """What came of a question: a reply and the seconds it took, or why there is none."""

    reply: Reply | None
    seconds: float
    reason: str = ""
    refused: bool = False


def ask_model(
    evaluation: Evaluation,
    model: Model,
    *,
    at_once: int,
    budget_tokens: int | None = None,
    tell: Callable[[AskedModel], None] | None = None,
) -> AskedModel:
    """Ask for each sample that is not there, up to the evaluation's n for each version, and keep each reply as it comes.

    A run that was cut off goes on with the next call. It ends cleanly before a question that might exceed the budget,
    which counts what was spent in earlier runs, when the endpoint refuses, and when it answers nothing any more.
    """
    done = AskedModel(tokens=_spent(evaluation))
    questions = _questions(evaluation)
    open_: dict[Future[Answered], Question] = {}
    in_a_row = 0
    with ThreadPoolExecutor(at_once) as pool:
        while True:
            while not done.stopped and len(open_) < at_once:
                asked = next(questions, None)
                if asked is None:
                    break
                reserved = sum(each.at_most for each in open_.values())
                if budget_tokens is not None and done.tokens + reserved + asked.at_most > budget_tokens:
                    done.stopped = (
                        f"The budget of {budget_tokens:,} tokens would not hold for the next question."
                    )
                    break
                open_[pool.submit(_ask, model, asked.request)] = asked
            if not open_:
                return done
            for future in wait(open_, return_when=FIRST_COMPLETED).done:
                answered = future.result()
                in_a_row = 0 if _keep(open_.pop(future), answered, done) else in_a_row + 1
                if answered.refused or in_a_row >= FAILURES_IN_A_ROW:
                    done.stopped = done.stopped or answered.reason
            if tell:
                tell(done)


def _questions(evaluation: Evaluation) -> Iterator[Question]:
    """Yield what is not there yet, a sample of each version before the second of any."""
    parameters = parameters_of(evaluation)
    shows = bool(evaluation.parameters.get("visible_tests", True))
    items = list(
        evaluation.items.select_related("version__example__dataset", "version__environment").order_by(
            "position"
        )
    )
    for number in range(1, (evaluation.samples_asked or 1) + 1):
        there = set(
            ModelSample.objects.filter(item__evaluation=evaluation, number=number).values_list(
                "item", flat=True
            )
        )
        for item in (item for item in items if item.pk not in there):
            prompt = question(item.version, visible_tests=shows)
            asked = parameters if parameters.seed is None else _with_seed(parameters, number)
            size = len(prompt.system.encode()) + len(prompt.user.encode())
            at_most = size + AROUND_A_PROMPT + parameters.max_tokens
            yield Question(item, number, request_of(prompt, asked), at_most)


def parameters_of(evaluation: Evaluation) -> Parameters:
    """Return how the evaluation asks its model."""
    usual = Parameters(evaluation.model_name)
    return Parameters(
        model=evaluation.model_name,
        temperature=usual.temperature if evaluation.temperature is None else evaluation.temperature,
        top_p=evaluation.top_p,
        seed=evaluation.parameters.get("seed"),
        max_tokens=evaluation.max_tokens or usual.max_tokens,
    )


def _with_seed(parameters: Parameters, number: int) -> Parameters:
    """Return the parameters of a version's sample of that number, each with a seed of its own."""
    return replace(parameters, seed=(parameters.seed or 0) + number - 1)


def _ask(model: Model, request: dict[str, Any]) -> Answered:
    """Send a request, again where it may be sent again; runs in a thread and touches no database."""
    began = time.monotonic()
    try:
        reply = patiently(lambda: model.answer(request))
    except TryLater as failure:
        return Answered(None, time.monotonic() - began, str(failure))
    except ModelRefused as refusal:
        return Answered(None, time.monotonic() - began, str(refusal), refused=True)
    return Answered(reply, time.monotonic() - began)


def _keep(asked: Question, answered: Answered, done: AskedModel) -> bool:
    """Save the reply, and return whether there is one."""
    reply = answered.reply
    if reply is None:
        done.failed += 1
        done.problems.append(f"{asked.item.version.example.key} sample {asked.number}: {answered.reason}")
        return False
    text = _storable(reply.text)
    facts = {
        "finish_reason": reply.finish,
        "prompt_tokens": reply.prompt_tokens,
        "completion_tokens": reply.completion_tokens,
        "seconds": round(answered.seconds, 3),
        "seed": asked.request.get("seed"),
        "request": hash_of(asked.request),
        "at_most": asked.at_most,
    }
    ModelSample.objects.create(
        item=asked.item,
        number=asked.number,
        reply=text,
        reply_hash=hashlib.sha256(text.encode()).hexdigest(),
        facts=facts,
    )
    done.kept += 1
    done.tokens += _tokens(facts)
    return True


def _storable(text: str) -> str:
    """Return the reply as it came; what no database holds (NUL, half a character) replaced, and cut where it is endless."""
    try:
        refuse_unstorable(text, "reply")
    except RecordInvalid:
        return bounded(text, LONGEST_REPLY)
    return text if len(text) <= LONGEST_REPLY else bounded(text, LONGEST_REPLY)


def _spent(evaluation: Evaluation) -> int:
    """Return the tokens of the replies that are there; one whose endpoint counts none is charged in full."""
    facts = ModelSample.objects.filter(item__evaluation=evaluation).values_list("facts", flat=True)
    return sum(_tokens(each) for each in facts.iterator())


def _tokens(facts: dict[str, Any]) -> int:
    prompt, completion = facts.get("prompt_tokens"), facts.get("completion_tokens")
    if isinstance(prompt, int) and isinstance(completion, int):
        return prompt + completion
    return int(facts.get("at_most", 0))


def first_problems(done: AskedModel, *, at_most: int = 10) -> list[str]:
    """Return the first problems, for a person."""
    return list(islice(done.problems, at_most))
