"""Scoring: each different job is executed once, a call that was cut off is finished by the next, our faults are tried again."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from examples.evaluation import executing, scoring
from examples.evaluation.creating import EvaluationRefused
from examples.evaluation.progress import progress
from examples.evaluation.scoring import ask_to_score, left_scoring, score_evaluation
from examples.models import Evaluation, ModelSample
from runner import boxes
from runner.models import Environment, Execution
from runner.outcome import Outcome
from tests.examples.evaluation.factories import RIGHT, WRONG, judged, make_evaluation, make_sample
from tests.factories import make_environment, make_version

pytestmark = pytest.mark.django_db
OTHER = "sha256:" + "ab" * 32


@pytest.fixture
def evaluation() -> Evaluation:
    """Two versions; the first has a sample twice, the second once."""
    evaluation = make_evaluation(
        [make_version("add"), make_version("plus", environment=make_environment("other", digest=OTHER))]
    )
    first, second = evaluation.items.all()
    for number, reply in enumerate((RIGHT, WRONG, f"{RIGHT}\n"), start=1):
        make_sample(first, number, reply=reply)
    make_sample(second, reply=RIGHT)
    return evaluation


def test_each_different_program_is_executed_once_in_its_own_environment_and_one_scope(evaluation):
    asked = score_evaluation(evaluation)
    assert (asked.executions, asked.reused) == (3, 1)
    executions = Execution.objects.all()
    assert {each.scope for each in executions} == {evaluation.scope}
    assert sorted(each.environment.name for each in executions) == ["other", "plain", "plain"]
    first, _, third, _ = ModelSample.objects.order_by("pk")
    assert first.execution == third.execution
    assert first.execution.job.program == "def add(a, b):\n    return a + b\n\n\n"
    assert first.execution.job.expected == ("test_add",)
    assert not first.execution.job.revealed
    assert progress(evaluation).state == "running"


def test_a_second_call_asks_for_nothing_and_a_cut_off_one_is_finished(evaluation, monkeypatch):
    monkeypatch.setattr(scoring, "BATCH", 2)

    class CutOff(Exception):
        pass

    def cut(asked):
        raise CutOff

    with pytest.raises(CutOff):
        score_evaluation(evaluation, tell=cut)
    assert ModelSample.objects.waiting().count() == 2
    assert progress(evaluation).open == 2
    assert score_evaluation(evaluation).executions == 1
    kept = list(ModelSample.objects.order_by("pk").values())
    again = score_evaluation(evaluation)
    assert (again.executions, again.reused, again.retried) == (0, 0, 0)
    assert list(ModelSample.objects.order_by("pk").values()) == kept


def test_what_another_evaluation_has_executed_is_not_executed_again_unless_the_limit_differs(evaluation):
    score_evaluation(evaluation)
    versions = [item.version for item in evaluation.items.all()]
    for limit, executions, reused in ((None, 0, 1), (7.0, 1, 0), (7.0, 0, 1)):
        other = make_evaluation(versions, cpu_limit_seconds=limit)
        make_sample(other.items.first(), reply=RIGHT)
        asked = score_evaluation(other)
        assert (asked.executions, asked.reused) == (executions, reused)
    last = ModelSample.objects.latest("pk")
    assert last.execution.job.limits.cpu_seconds == 7
    assert last.execution.job.limits.wall_seconds == 15


def test_another_image_is_another_execution(evaluation):
    score_evaluation(evaluation)
    other = make_evaluation(
        [evaluation.items.first().version], environment=make_environment("newer", digest="sha256:" + "7" * 64)
    )
    make_sample(other.items.get(), reply=RIGHT)
    assert score_evaluation(other).executions == 1
    assert ModelSample.objects.latest("pk").execution.environment.name == "newer"


def test_our_own_failures_are_tried_again_shown_and_not_counted(evaluation):
    item = evaluation.items.last()
    item.samples.all().delete()
    judged(item, Outcome.PASSED, None)
    assert progress(evaluation).unjudged == 1
    assert score_evaluation(evaluation, retry=False).retried == 0
    assert score_evaluation(evaluation).retried == 1
    assert progress(evaluation).unjudged == 0
    assert Execution.objects.filter(state="queued", reason="", samples__item=item).count() == 1


def test_an_environment_that_is_not_built_is_named_before_anything_is_asked(evaluation):
    make_sample(
        make_evaluation([make_version("z", environment=make_environment("bare", digest=""))]).items.get()
    )
    with pytest.raises(EvaluationRefused, match="Not built yet: bare"):
        score_evaluation(Evaluation.objects.first())
    assert not Execution.objects.exists()


def test_progress_says_the_state_and_the_time_left(evaluation):
    assert progress(evaluation).state == "waiting"
    score_evaluation(evaluation)
    assert progress(evaluation).seconds_left is None
    done = Execution.objects.order_by("pk").first()
    Execution.objects.filter(pk=done.pk).update(
        state="finished", outcome="PASSED", finished_at="2999-01-01T00:00Z"
    )
    now = progress(evaluation)
    assert (now.samples, now.judged, now.open, now.waiting) == (4, 2, 2, 0)
    assert now.seconds_left == pytest.approx(2 * 30)
    Execution.objects.exclude(pk=done.pk).update(state="unjudged", reason="no engine")
    assert progress(evaluation).state == "not all judged"
    assert progress(make_evaluation([make_version("empty")])).state == "no samples"


def test_asking_costs_queries_by_the_batch_and_not_by_the_sample(evaluation):
    item = evaluation.items.first()
    for number in range(10, 60):
        make_sample(item, number, reply=f"    return {number}\n")
    with CaptureQueriesContext(
        connection,
    ) as few:
        score_evaluation(evaluation)
    assert len(few) < 54 + 30  # one UPDATE a sample, and what a batch costs


def test_what_is_broken_off_gives_its_boxes_back_and_leaves_the_rest_in_the_queue(evaluation, monkeypatch):
    score_evaluation(evaluation)
    closed: list[bool] = []
    monkeypatch.setattr(boxes, "close", lambda: closed.append(True))
    monkeypatch.setattr(boxes, "keep_warm", lambda: None)

    def stopped(ids: list[int]) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(executing, "execute_batch", stopped)
    with pytest.raises(KeyboardInterrupt):
        executing.execute_here(evaluation, at_once=1)
    assert closed == [True]
    assert set(Execution.objects.values_list("state", flat=True)) == {"queued"}


def test_scoring_that_a_queue_has_lost_is_found_once_and_no_more_when_it_has_ended(evaluation):
    ask_to_score(evaluation)
    assert left_scoring() == []
    Evaluation.objects.update(scoring_at=timezone.now() - timedelta(seconds=2 * scoring.SILENT_SECONDS))
    assert left_scoring() == [evaluation.pk]
    assert left_scoring() == []
    score_evaluation(evaluation)
    evaluation.refresh_from_db()
    assert evaluation.scoring_at is None


def test_scoring_by_command_is_nobody_elses_to_go_on_with(evaluation):
    score_evaluation(evaluation)
    assert not Evaluation.objects.filter(scoring_at__isnull=False).exists()


def test_scoring_that_is_refused_is_not_asked_for_again(evaluation):
    ask_to_score(evaluation)
    Environment.objects.update(image_digest="", built_at=None)
    with pytest.raises(EvaluationRefused):
        score_evaluation(evaluation)
    assert not Evaluation.objects.filter(scoring_at__isnull=False).exists()
