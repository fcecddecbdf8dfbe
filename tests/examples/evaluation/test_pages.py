"""Pages and API of evaluations: what they show, in a fixed number of queries, and what an upload of figures looks like."""

from __future__ import annotations

import csv
import io
import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from examples.evaluation.grid import EVERYBODY, NOBODY, grid
from examples.evaluation.leaderboard import leaderboard
from examples.models import AuditEntry, Evaluation, ModelSample
from runner.models import Execution
from runner.outcome import Outcome
from tests.examples.evaluation.factories import judged, make_evaluation, make_sample
from tests.factories import make_environment, make_version

PASSED, FAILED = Outcome.PASSED, Outcome.FAILED


@pytest.fixture
def staff(curator) -> Client:
    client = Client()
    client.force_login(curator, backend="django.contrib.auth.backends.ModelBackend")
    return client


@pytest.fixture
def two(db) -> list[Evaluation]:
    """Two models on three versions: nobody solves the first, both the second always, one the third."""
    versions = [make_version(key) for key in ("hard", "easy", "apart")]
    outcomes = {"weak": [(FAILED, FAILED), (PASSED, PASSED), (FAILED, FAILED)]}
    outcomes["strong"] = [(FAILED, FAILED), (PASSED, PASSED), (PASSED, FAILED)]
    made = []
    for name, rows in outcomes.items():
        evaluation = make_evaluation(versions, name=name, model_name=f"{name}-7b")
        for item, came in zip(evaluation.items.all(), rows, strict=True):
            judged(item, *came)
        made.append(evaluation)
    return made


def test_the_list_and_one_evaluation_show_state_figures_and_denominators(
    staff, two, django_assert_max_num_queries
):
    page = staff.get(reverse("evaluations")).content.decode()
    assert "weak-7b" in page
    assert "6 of 6" in page
    page = staff.get(reverse("evaluation", args=["strong"])).content.decode()
    for words in (
        "pass@1",
        "50 %",
        "3 examples",
        "undefined",
        "no example has 5 or more samples",
        "each version&#x27;s own",
    ):
        assert words in page
    with django_assert_max_num_queries(9):
        staff.get(reverse("evaluations"))
    for at in range(4):
        make_evaluation([make_version(f"v{at}")])
    with django_assert_max_num_queries(9):
        staff.get(reverse("evaluations"))


def test_one_evaluation_costs_the_same_queries_for_any_number_of_examples(
    staff, db, django_assert_num_queries
):
    small = make_evaluation([make_version("one")], name="small")
    large = make_evaluation([make_version(f"v{at}") for at in range(12)], name="large")
    for evaluation in (small, large):
        for item in evaluation.items.all():
            judged(item, PASSED, FAILED)
    with CaptureQueriesContext(connection) as few:
        staff.get(reverse("evaluation", args=["small"]))
    with django_assert_num_queries(len(few)):
        staff.get(reverse("evaluation", args=["large"]))


def test_a_running_evaluation_asks_again_and_gets_nothing_while_nothing_changes(staff, db):
    evaluation = make_evaluation([make_version()], name="m")
    sample = judged(evaluation.items.get(), PASSED, PASSED)[0]
    Execution.objects.filter(pk=sample.execution_id).update(state="queued", outcome="", finished_at=None)
    address = reverse("evaluation", args=["m"])
    page = staff.get(address).content.decode()
    assert 'hx-trigger="every 2s"' in page
    htmx = {"HX-Request": "true"}
    assert staff.get(f"{address}?seen=2-1-0-0", headers=htmx).status_code == 204
    Execution.objects.update(state="finished", outcome="PASSED")
    part = staff.get(f"{address}?seen=2-1-0-0", headers=htmx).content.decode()
    assert "<html" not in part
    assert "every 2s" not in part


def test_scoring_is_asked_of_a_worker_and_noted_and_refused_with_words_where_nothing_is_built(
    staff, db, monkeypatch
):
    asked: list[int] = []
    monkeypatch.setattr("examples.views.evaluation.wake_on_commit", lambda task, pk: asked.append(pk))
    evaluation = make_evaluation([make_version()], name="m")
    make_sample(evaluation.items.get())
    page = staff.get(reverse("evaluation", args=["m"])).content.decode()
    assert "Score 1 sample<" in page
    staff.post(reverse("evaluation_score", args=["m"]))
    assert asked == [evaluation.pk]
    assert AuditEntry.objects.filter(action="evaluation scored").exists()
    bare = make_evaluation([make_version("b", environment=make_environment("bare", digest=""))], name="bare")
    told = staff.post(reverse("evaluation_score", args=["bare"]), follow=True).content.decode()
    assert "Not built yet: bare" in told
    assert asked == [evaluation.pk]
    assert bare.pk not in asked


def test_samples_are_found_by_version_and_outcome_and_shown_with_code_and_rows(staff, two):
    address = reverse("evaluation_samples", args=["strong"])
    assert "6 samples" in staff.get(address).content.decode()
    version = two[1].items.last().version_id
    assert "2 samples" in staff.get(f"{address}?version={version}").content.decode()
    assert "1 sample<" in staff.get(f"{address}?version={version}&outcome=FAILED").content.decode()
    assert "No sample matches" in staff.get(f"{address}?outcome=left").content.decode()
    waiting = make_sample(two[1].items.first(), 9)
    assert "not asked for" in staff.get(f"{address}?outcome=left").content.decode()
    assert "not asked for" in staff.get(reverse("model_sample", args=[waiting.pk])).content.decode()
    sample = ModelSample.objects.filter(item__evaluation=two[1]).first()
    ModelSample.objects.filter(pk=sample.pk).update(reply="    return '\x1b[31m<b>'\n", recorded=True)
    sample.execution.rows.create(number=1, test="test_add", assertion=1, outcome=PASSED)
    page = staff.get(reverse("model_sample", args=[sample.pk])).content.decode()
    for words in ("recorded as passed", "test_add, assertion 1", "Put".lower()):
        assert words in page
    assert "<b>'" not in page


def test_the_grid_finds_what_nobody_and_what_everybody_solves(staff, two, django_assert_num_queries):
    with django_assert_num_queries(2):
        rows = grid(two)
    assert [(row.facts.title, row.verdict, row.solved_by) for row in rows] == [
        ("hard(a, b)", NOBODY, 0),
        ("apart(a, b)", "", 1),
        ("easy(a, b)", EVERYBODY, 2),
    ]
    address = reverse("evaluation_grid")
    assert "All 3 that every model was given" in staff.get(address).content.decode()
    page = staff.get(f"{address}?over=dataset:demo&show=nobody").content.decode()
    assert "hard(a, b)" in page
    assert "easy(a, b)" not in page
    assert staff.get(f"{address}?over=dataset:none").status_code == 404


def test_a_board_is_over_the_versions_that_every_model_was_given(two, django_assert_num_queries):
    with django_assert_num_queries(4):
        board = leaderboard(two)
    assert [line.evaluation.name for line in board.lines] == ["strong", "weak"]
    assert [round(line.first.value, 3) for line in board.lines] == [0.5, 0.333]
    easy = Evaluation.objects.get(name="weak").items.get(version__example__key="easy").version
    narrow = make_evaluation([easy], name="narrow")
    judged(narrow.items.get(), PASSED)
    board = leaderboard([*two, narrow])
    assert board.common == 1
    assert {line.first.value for line in board.lines} == {1.0}
    assert [line.own for line in board.lines] == [1, 3, 3]


def test_a_model_without_samples_for_an_example_comes_after_those_with_all(two):
    item = two[0].items.first()
    item.samples.all().delete()
    item = two[0].items.last()
    item.samples.all().delete()  # now it has 1.0 over one example of three
    board = leaderboard(two)
    assert [line.evaluation.name for line in board.lines] == ["strong", "weak"]
    assert (board.lines[1].first.value, board.lines[1].first.n, board.lines[1].first.total) == (1.0, 1, 3)


def test_the_leaderboard_comes_as_page_csv_and_json(staff, two):
    Evaluation.objects.filter(name="weak").update(model_name="=1+1")
    page = staff.get(reverse("leaderboard")).content.decode()
    assert page.index("strong-7b") < page.index("=1+1")
    assert "50.0 %" in page
    table = list(
        csv.DictReader(io.StringIO(staff.get(reverse("leaderboard_file", args=["csv"])).content.decode()))
    )
    assert [row["model"] for row in table] == ["strong-7b", "'=1+1"]
    assert (table[0]["pass@1"], table[0]["pass@1_examples"], table[0]["pass@5"]) == ("0.5", "3", "")
    whole = json.loads(staff.get(reverse("leaderboard_file", args=["json"]) + "?e=strong").content)
    (line,) = whole["models"]
    assert line["pass_at"]["1"]["value"] == 0.5
    assert line["pass_at"]["5"] == {
        "value": None,
        "examples": 0,
        "of": 3,
        "interval": None,
        "reason": "no example has 5 or more samples",
    }
    assert whole["people"] is None


def test_the_api_gives_evaluations_figures_and_boards(staff, two):
    (first, second) = staff.get("/api/v1/evaluations/").json()["results"]
    assert (first["name"], first["over"], second["limit"]) == ("weak", "dataset:demo", "each version's own")
    found = staff.get("/api/v1/evaluations/strong/figures/").json()
    assert found["pass_at"]["1"]["value"] == 0.5
    assert found["outcomes"] == {"PASSED": 3, "FAILED": 3}
    assert found["samples"] == {"all": 6, "judged": 6, "unjudged": 0, "left": 0}
    assert staff.get("/api/v1/leaderboards/").json() == {
        "places": [{"over": "dataset:demo", "title": "demo"}]
    }
    board = staff.get("/api/v1/leaderboards/?over=dataset:demo").json()
    assert [line["model"] for line in board["models"]] == ["strong-7b", "weak-7b"]
    assert staff.get("/api/v1/leaderboards/?over=dataset:none").status_code == 404


def test_a_file_comes_in_by_the_page_with_its_bad_records_named_and_where_nothing_can_nothing_is_made(
    staff, db
):
    make_version("add")

    def send(*records: object, **fields: object) -> tuple[int, str]:
        text = b"".join(json.dumps(each).encode() + b"\n" for each in records)
        file = SimpleUploadedFile("samples.jsonl", text)
        asked = {"file": file, "over": "dataset:demo", "model_name": "m 7b", **fields}
        answer = staff.post(reverse("evaluation_new"), asked)
        return answer.status_code, answer.content.decode()

    good, bad = {"task_id": "add", "completion": "return 1"}, {"task_id": "gone", "completion": "x"}
    assert "Send a file" in staff.get(reverse("evaluation_new")).content.decode()
    status, page = send(bad)
    assert (status, "No sample could come in" in page) == (422, True)
    assert not Evaluation.objects.exists()
    status, page = send(good, bad, dry_run="on")
    assert (status, "1 sample would be added" in page) == (200, True)
    assert not Evaluation.objects.exists()
    status, page = send(good, bad, temperature="0.2")
    assert (status, "names no example of the evaluation" in page) == (200, True)
    made = Evaluation.objects.get(name="m-7b-demo")
    assert (made.temperature, made.created_by.role, ModelSample.objects.count()) == (0.2, "curator", 1)
    assert "there with another temperature" in send(good, temperature="0.9")[1]
    assert send(good, over="dataset:none")[0] == 422
