"""One example through all nine stages, by the stage functions, with real containers."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator

import pytest
from django.utils import timezone

from annotation import evidence
from annotation.assignment import take_slot
from annotation.attempts import close_attempt, progress_of, settle
from annotation.demo import RECORDS
from annotation.exporting import export as export_rows
from annotation.models import Attempt, Run, Study, User
from annotation.panel import result_of
from annotation.protocols import new_study
from annotation.results import study_results
from annotation.runs import run_visible, submit
from annotation.studies import add_people, add_versions, choose, open_study
from examples.checking.run import check_version
from examples.curating import accept
from examples.exporting import export as export_versions
from examples.importing.detect import read
from examples.importing.store import store
from examples.models import Example, ImportReport, Version
from examples.releasing.download import tar_chunks
from examples.releasing.drafting import DraftPlan, SplitPlan, draft_release
from examples.releasing.freezing import freeze
from runner import boxes
from runner.environments.recipe import BuildFailed, recipes
from runner.execution import execute
from runner.models import Environment
from runner.provisioning import provision
from runner.sandbox.containers import ColdSandbox
from tests.answers import SPLIT_AMOUNT

pytestmark = [pytest.mark.docker, pytest.mark.timeout(300)]


@pytest.fixture
def environment(either_database: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Environment]:
    """The plain environment, built, and a sandbox of cold boxes for this process."""
    try:
        built = provision(recipes()["plain"], progress=print)
    except BuildFailed as reason:
        pytest.skip(f"no Docker engine, or no image: {reason}")
    cold = ColdSandbox(boxes.engine())
    monkeypatch.setattr(boxes, "sandbox", lambda: cold)
    yield built
    cold.close()


def imported(key: str, *, by: User) -> Version:
    """IMPORT one record of the demo dataset, and return its version."""
    report = ImportReport.objects.create(dataset_name="demo", file_name=RECORDS.name, started_by=by)
    with RECORDS.open("rb") as stream:
        store([record for record in read(stream) if record.key == key], report)
    assert (report.state, report.added, report.problem_count) == ("finished", 1, 0)
    return Version.objects.select_related("example").get()


def opened_study(people: list[User], *, by: User) -> Study:
    """STUDY: a protocol over what is usable, with two places a version, opened."""
    study = new_study(name="flow", title="Flow", by=by, solvers=2, submissions=2)
    assert add_versions(study, choose(Example.objects.all()), by=by) == 1
    add_people(study, people, by=by)
    open_study(study, by=by, now=timezone.now())
    return study


def executed(run: Run) -> Run:
    """EXECUTE what was asked for, as a worker would, and return the run with what came of it."""
    assert execute(run.execution_id)
    return Run.objects.select_related("execution", "attempt__slot__version").get(pk=run.pk)


def solved_by(person: User, study: Study) -> Attempt:
    """ASSIGN, ATTEMPT and VERDICT: take a slot, be wrong once, then right, and say how it went."""
    attempt = take_slot(study, person, timezone.now())
    assert isinstance(attempt, Attempt)
    code = {"module": "", "now": timezone.now()}
    wrong = executed(run_visible(attempt, function=SPLIT_AMOUNT.wrong, key="1", **code))
    assert result_of(wrong).rows[1].values == ("[333, 333, 333]", "[334, 333, 333]")
    right = executed(run_visible(attempt, function=SPLIT_AMOUNT.right, key="2", **code))
    assert [row.outcome for row in result_of(right).rows] == ["PASSED"] * 4
    submission = executed(submit(attempt, function=SPLIT_AMOUNT.right, key="3", **code))
    assert (submission.execution.outcome, result_of(submission).passed) == ("PASSED", 1)
    assert settle(attempt, now=timezone.now())
    answers = {"difficulty": "requires effort", "instruction_quality": 0, "test_quality": 0}
    close_attempt(attempt, answers={"outcome": "solved", **answers}, now=timezone.now())
    assert progress_of(attempt).submissions.counted == 1
    return attempt


def test_one_example_goes_from_a_file_through_two_solvers_to_a_frozen_release(
    environment: Environment, ann: User, ben: User, curator: User
) -> None:
    version = imported("split_amount", by=curator)
    assert choose(Example.objects.all()).refused == {"checks have not finished": 1}
    assert check_version(version.pk) == Version.CheckState.PASSED, list(
        version.checks.values_list("name", "finding")
    )
    study = opened_study([ann, ben], by=curator)
    attempts = [solved_by(person, study) for person in (ann, ben)]
    assert {attempt.state for attempt in attempts} == {"closed"}

    found = study_results(study)
    solved = found.rates.solved.rate
    assert (solved.count, solved.total) == (2, 2)
    assert solved.wilson is not None
    assert (round(solved.wilson.low, 2), solved.wilson.high) == (0.34, 1.0)
    assert (solved.cluster, "no variance" in solved.cluster_reason) == (None, True)

    accept(version.example, by=curator)
    plan = DraftPlan(name="flow", number="1.0.0", seed=1, splits=[SplitPlan("test", 1.0)], licence="MIT")
    release = freeze(
        draft_release(plan, versions=Version.objects.all(), by=curator), by=curator, people=evidence
    )
    line = json.loads(release.items.get().line)
    assert (line["image"], line["reference"]) == (environment.image_digest, version.reference)
    assert line["canary"] == release.canary

    (record,) = (
        json.loads(each)
        for each in b"".join(export_versions(Example.objects.all(), "benchwright")).splitlines()
    )
    assert record["content_hash"] == version.content_hash
    rows = list(csv.DictReader(io.StringIO(b"".join(export_rows(study, "attempts", "csv")).decode())))
    assert [(row["person"], row["solved"]) for row in rows] == [("P01", "True"), ("P02", "True")]
    assert release.manifest_sha256.encode() in b"".join(tar_chunks(release, release.files.all()))
