"""Samples through real boxes, by the commands: the recorded verdicts of a slice of two models."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from itertools import islice

import pytest
from django.core.management import call_command

from examples.models import ModelSample
from runner import boxes
from runner.environments.building import BuiltImage
from runner.environments.recipe import recipes
from runner.models import Execution
from runner.provisioning import store as store_environment
from tests.benchmarks.records import load
from tests.examples.published import data_file
from tests.runner.conftest import engine, plain

__all__ = ["engine", "plain"]

pytestmark = [pytest.mark.docker, pytest.mark.django_db(transaction=True)]
SLICE = 6


@pytest.fixture
def own_boxes(plain: BuiltImage) -> Iterator[None]:
    """The plain environment in the database, and a process that has only now begun."""
    before, boxes._process = boxes._process, boxes._Process()
    store_environment(recipes()["plain"], plain, [])
    yield
    boxes.close()
    boxes._process = before


def test_a_slice_of_two_models_comes_to_the_recorded_verdicts_and_is_executed_once(
    own_boxes, tmp_path, capsys
):
    problems = tmp_path / "problems.jsonl"
    with gzip.open(data_file("humaneval/HumanEval.jsonl.gz"), "rt") as published:
        problems.write_text("".join(islice(published, SLICE)))
    assert load(problems, "humaneval").added == SLICE
    for model in ("codellama_7b", "qwen2.5-coder_7b"):
        source = data_file(f"samples/humaneval_{model}_results.jsonl")
        file = tmp_path / "slice.jsonl"
        file.write_text("".join(islice(source.open(), SLICE)))
        asked = {"dataset": "humaneval", "model": model, "name": model.replace(".", "-"), "unchecked": True}
        call_command("import_samples", str(file), **asked, cpu_limit=10.0)
    capsys.readouterr()
    names = ["codellama_7b", "qwen2-5-coder_7b"]
    call_command("score_samples", *names, here=True, at_once=1, k=[1, 2])
    said = capsys.readouterr().out
    assert said.count(f"{SLICE} of {SLICE} recorded verdicts are the same") == 2
    assert said.count("undefined: no example has 2 or more samples") == 2
    assert not ModelSample.objects.exclude(execution__state="finished").exists()
    executed = Execution.objects.count()
    call_command("score_samples", *names, here=True)
    assert "0 executions asked for" in capsys.readouterr().out
    assert Execution.objects.count() == executed
