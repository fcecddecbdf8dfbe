"""The leaderboard with people: whom it counts, under which limits, and who sees them."""

from __future__ import annotations

import json

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from examples.models import Evaluation, Version
from runner.outcome import Outcome
from tests.examples.evaluation.factories import judged, make_evaluation
from tests.factories import make_attempt, make_study, make_version

PASSED, FAILED = Outcome.PASSED, Outcome.FAILED


@pytest.fixture
def measured(ann, ben) -> tuple[list[Version], list[Evaluation]]:
    """Two versions that two people attempted, and two models on them; the second was judged under another limit."""
    versions = [make_version("one"), make_version("two")]
    Version.objects.update(cpu_limit_seconds=2.0)
    study = make_study(versions=versions, people=[ann, ben])
    for person, version, solved in ((ann, 0, True), (ben, 0, True), (ann, 1, True), (ben, 1, False)):
        make_attempt(study, versions[version], person, solved=solved)
    evaluations = [
        make_evaluation(versions, name="same", model_name="same-7b"),
        make_evaluation(versions, name="other", model_name="other-7b", cpu_limit_seconds=9.0),
    ]
    for evaluation in evaluations:
        first, second = evaluation.items.all()
        judged(first, PASSED, FAILED)
        judged(second, FAILED, FAILED)
    return versions, evaluations


def signed_in(person) -> Client:
    client = Client()
    client.force_login(person, backend="django.contrib.auth.backends.ModelBackend")
    return client


def test_people_stand_beside_models_and_only_those_judged_alike_are_compared(measured, curator):
    client = signed_in(curator)
    page = client.get(reverse("leaderboard")).content.decode()
    for words in (
        "People beside models",
        "solved at first submission",
        "3 of 4 closed attempts",
        "50.0 points",
    ):
        assert words in page
    assert "2 versions judged under another limit or in another environment" in page
    whole = json.loads(client.get(reverse("leaderboard_file", args=["json"])).content)
    people = whole["people"]
    assert people["solved_at_first_submission"]["count"] == 3
    models = {each["evaluation"]: each for each in people["models"]}
    assert models["same"]["first_submission_less_pass_at_1"]["value"] == pytest.approx(0.5)
    assert models["same"]["pass_at"]["1"]["value"] == 0.25
    assert models["other"]["first_submission_less_pass_at_1"]["value"] is None
    assert models["other"]["versions_judged_otherwise"] == 2


def test_the_same_limit_said_for_all_is_the_same_limit(measured, curator):
    Evaluation.objects.filter(name="other").update(cpu_limit_seconds=2.0)
    whole = json.loads(signed_in(curator).get(reverse("leaderboard_file", args=["json"])).content)
    assert {each["versions_judged_otherwise"] for each in whole["people"]["models"]} == {0}


def test_people_can_be_left_out_and_readers_see_none(measured, curator, reader):
    assert (
        "People beside models"
        not in signed_in(curator).get(reverse("leaderboard") + "?study=").content.decode()
    )
    page = signed_in(reader).get(reverse("leaderboard")).content.decode()
    assert "No model measured yet" in page
    assert "same-7b" not in page


def test_a_board_with_people_costs_the_same_queries_for_more_attempts_and_versions(
    measured, curator, ann, ben
):
    client, address = signed_in(curator), reverse("leaderboard")
    with CaptureQueriesContext(connection) as few:
        client.get(address)
    more = [make_version(f"more{at}") for at in range(5)]
    study = make_study("s-02", versions=more, people=[ann, ben])
    for version in more:
        make_attempt(study, version, ann)
    for name in ("three", "four"):
        for item in make_evaluation([*measured[0], *more], name=name).items.all():
            judged(item, PASSED)
    with CaptureQueriesContext(connection) as many:
        client.get(address)
    assert len(many) == len(few)
