"""Three models and people on one leaderboard, in a real browser: compared, narrowed, taken away as a file."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from annotation.accounts import create_account
from annotation.models import User
from config.access import Role
from examples.models import Library, ModelSample, Version
from runner.outcome import Outcome
from tests.browser.eye import Eye
from tests.examples.evaluation.factories import judged, make_evaluation, make_sample
from tests.factories import make_attempt, make_study, make_version

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]
MODELS = {"Qwen2.5-Coder-7B": 0.75, "CodeLlama-7B": 0.35, "CodeGen-16B": 0.15}
WRONG = [Outcome.FAILED, Outcome.FAILED, Outcome.LOAD_ERROR, Outcome.TIMEOUT_CPU]
LEVELS = ["trivial", "requires effort", "very hard"]


@pytest.fixture
def measured(transactional_db: None) -> list[Version]:
    """Twelve versions, six people at them, three models with five samples each; one sample is not executed yet."""
    drawn = random.Random(3)
    versions = [make_version(f"round_shares_{at}") for at in range(12)]
    libraries = [Library.objects.create(name=name) for name in ("math", "re", "json")]
    for at, version in enumerate(versions):
        version.example.libraries.add(libraries[at % 3])
    people = [create_account(username=f"p{at}", role=Role.ANNOTATOR, password=None) for at in range(6)]
    study = make_study("s-01", versions=versions, people=people, title="How solvable is demo?")
    for at, version in enumerate(versions):
        for place in range(2):
            solved, level = drawn.random() < 0.8, drawn.choice(LEVELS)
            make_attempt(study, version, people[(at + place) % 6], solved=solved, difficulty=level)
    for name, skill in MODELS.items():
        evaluation = make_evaluation(versions, name=name.lower().replace(".", "-"), model_name=name)
        for at, item in enumerate(evaluation.items.all()):
            chance = 0 if at == 0 else 1 if at == 1 else skill
            judged(
                item, *(Outcome.PASSED if drawn.random() < chance else drawn.choice(WRONG) for _ in range(5))
            )
    make_sample(evaluation.items.all()[0], 6)
    return versions


def test_three_models_and_people_are_compared_narrowed_and_taken_away(
    site: str,
    page: Page,
    sign_in: Callable[[Page, User], None],
    curator: User,
    eye: Eye,
    measured: list[Version],
    tmp_path: Path,
) -> None:
    eye.watch(page)
    sign_in(page, curator)
    page.goto(f"{site}/evaluations/")
    eye.look(page, "evaluations")
    page.get_by_role("link", name="Import samples").click()
    eye.look(page, "evaluation-new")
    page.go_back()
    page.get_by_role("link", name="Leaderboard").click()
    expect(page.get_by_role("heading", name="People beside models")).to_be_visible()
    models = page.get_by_role("region", name="Models, table", exact=True).locator("tbody tr")
    expect(models).to_have_count(3)
    expect(models.first).to_contain_text("Qwen2.5-Coder-7B")
    eye.look(page, "leaderboard")
    page.get_by_label("codegen-16b").uncheck()
    page.get_by_role("button", name="Show").click()
    expect(models).to_have_count(2)
    with page.expect_download() as taken:
        page.get_by_role("link", name="JSON").click()
    taken.value.save_as(tmp_path / "board.json")
    whole = json.loads((tmp_path / "board.json").read_text())
    assert len(whole["models"]) == len(whole["people"]["models"]) == 2
    page.get_by_role("link", name="Examples by model").click()
    page.get_by_label("Which examples").select_option("nobody")
    expect(page.get_by_text("nobody", exact=True)).to_be_visible()
    eye.look(page, "evaluation-grid")
    page.goto(f"{site}/evaluations/of/codegen-16b/")
    expect(page.get_by_role("button", name="Score 1 sample")).to_be_visible()
    eye.look(page, "evaluation")
    page.get_by_role("link", name="Its samples").click()
    eye.look(page, "evaluation-samples")
    page.goto(f"{site}/evaluations/samples/{ModelSample.objects.order_by('pk')[0].pk}/")
    eye.look(page, "model-sample")
    assert eye.troubles == []
