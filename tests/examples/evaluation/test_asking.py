"""A model is asked with what an annotator sees; replies are kept as they come, and never asked for again."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from examples.evaluation.asking import ask_model
from examples.evaluation.questions import prompt_version, question
from examples.evaluation.scoring import score_evaluation
from examples.llm import ModelRefused, Reply, TryLater
from examples.llm.endpoint import Endpoint, configured
from examples.models import Evaluation, ModelSample
from tests.annotation.factories import make_version as make_shop
from tests.examples.evaluation.factories import make_evaluation
from tests.factories import make_environment, make_version

pytestmark = pytest.mark.django_db


class Scripted:
    """Answers as it is told to; the paid endpoint's place in tests."""

    def __init__(self, answer: Callable[[int], Reply]) -> None:
        self.script, self.requests = answer, list[Mapping[str, Any]]()
        self._lock = threading.Lock()

    def answer(self, request: Mapping[str, Any]) -> Reply:
        with self._lock:
            self.requests.append(request)
            number = len(self.requests)
        return self.script(number)


def right(_: int) -> Reply:
    return Reply("Sure:\n```python\ndef add(a, b):\n    return a + b\n```\n", "stop", 100, 20)


@pytest.fixture
def evaluation() -> Evaluation:
    fields = {"samples_asked": 2, "temperature": 0.8, "top_p": 0.95, "max_tokens": 300}
    versions = [make_version("add"), make_version("plus")]
    return make_evaluation(versions, origin="endpoint", model_name="m-7b", parameters={"seed": 5}, **fields)


def test_a_question_is_what_an_annotator_sees_and_never_more():
    environment = make_environment("plain")
    environment.packages = {"numpy": "2.1.0"}
    environment.save()
    version = make_shop()
    prompt = question(version, visible_tests=True)
    for words in (
        version.instruction,
        "RATE = 0.2",
        "    ...\n",
        "assert with_tax(100) == 120.0",
        "numpy 2.1.0",
    ):
        assert words in prompt.user
    assert "1 of 3 assertions" in prompt.user
    for hidden in (version.reference, "secret_value", "23.99", "with_tax(0)"):
        assert hidden not in prompt.user + prompt.system
    blind = question(version, visible_tests=False)
    assert "120.0" not in blind.user
    version.instruction = "Say {{program}} and ```."
    assert "Say {{program}} and ```." in question(version, visible_tests=False).user


def test_each_sample_is_asked_once_with_the_recorded_parameters_and_kept_as_it_came(evaluation):
    model = Scripted(right)
    done = ask_model(evaluation, model, at_once=2)
    assert (done.kept, done.failed, done.tokens, done.stopped) == (4, 0, 480, "")
    asked = [
        (each["model"], each["temperature"], each["top_p"], each["max_tokens"]) for each in model.requests
    ]
    assert set(asked) == {("m-7b", 0.8, 0.95, 300)}
    assert sorted(each["seed"] for each in model.requests) == [5, 5, 6, 6]
    sample = ModelSample.objects.get(item__version__example__key="plus", number=2)
    assert sample.reply == right(1).text
    assert (sample.facts["finish_reason"], sample.facts["completion_tokens"], sample.facts["seed"]) == (
        "stop",
        20,
        6,
    )
    assert ask_model(evaluation, model, at_once=2).kept == 0
    assert len(model.requests) == 4
    assert score_evaluation(evaluation).executions == 1  # four replies, one program


def test_a_run_ends_before_the_budget_and_the_next_one_counts_what_was_spent(evaluation):
    model = Scripted(right)
    prompt = question(evaluation.items.first().version, visible_tests=True)
    at_most = len((prompt.system + prompt.user).encode()) + 64 + 300
    done = ask_model(evaluation, model, at_once=1, budget_tokens=at_most + 130)
    assert "would not hold" in done.stopped
    assert (done.kept, done.tokens) == (2, 240)
    again = ask_model(evaluation, model, at_once=1, budget_tokens=done.tokens)
    assert (again.kept, again.tokens) == (0, done.tokens)
    assert ask_model(evaluation, model, at_once=1).kept == 2


def test_an_endpoint_that_counts_nothing_is_charged_in_full(evaluation):
    done = ask_model(evaluation, Scripted(lambda _: Reply("return a + b")), at_once=1)
    assert done.tokens > 4 * 300


def test_a_refusal_ends_the_run_and_what_failed_is_asked_again_the_next_time(evaluation, settings):
    settings.LLM_TRIES, settings.LLM_BACKOFF_SECONDS = 1, 0

    def refuses(number: int) -> Reply:
        if number == 2:
            raise ModelRefused("The endpoint answers 401: no.")
        return right(number)

    done = ask_model(evaluation, Scripted(refuses), at_once=1)
    assert (done.kept, done.failed) == (1, 1)
    assert "401" in done.stopped
    assert "401" in done.problems[0]

    def away(number: int) -> Reply:
        raise TryLater("The endpoint cannot be reached.")

    done = ask_model(evaluation, Scripted(away), at_once=1)
    assert (done.kept, done.failed, done.stopped) == (0, 3, "")
    assert ask_model(evaluation, Scripted(right), at_once=1).kept == 3


def test_a_reply_no_database_holds_is_kept_with_its_characters_replaced(evaluation):
    ask_model(evaluation, Scripted(lambda _: Reply("x\0y\ud800")), at_once=1)
    assert set(ModelSample.objects.values_list("reply", flat=True)) == {"x\ufffdy\ufffd"}


def test_the_command_records_how_it_asked_and_says_what_comes_next(monkeypatch, settings, capsys):
    make_version("add")
    settings.LLM_BASE_URL = "http://127.0.0.1:1/v1"
    configured.cache_clear()
    model = Scripted(right)
    monkeypatch.setattr(Endpoint, "answer", lambda self, request: model.answer(request))
    asked = {"dataset": "demo", "model": "m-7b", "n": 3, "temperature": 0.7, "seed": 1}
    call_command("ask_model", **asked)
    configured.cache_clear()
    assert "3 replies kept" in capsys.readouterr().out
    made = Evaluation.objects.get(name="m-7b-demo")
    assert (made.origin, made.samples_asked, made.temperature, made.max_tokens) == ("endpoint", 3, 0.7, 1024)
    assert made.parameters == {"prompt": prompt_version(), "visible_tests": True, "seed": 1}
    settings.LLM_BASE_URL = ""
    with pytest.raises(CommandError, match="No endpoint is set"):
        call_command("ask_model", **asked)
