"""The workspace of an example in JavaScript or C++: what its annotator sees, and the job that a run becomes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.assignment import take_slot
from annotation.drafts import current_draft
from annotation.fixing import try_fix
from annotation.models import Attempt, User
from annotation.runs import run_scratch, run_visible, submit
from examples.demo.braced import records
from examples.editing import edit_of
from examples.importing.base import Record
from examples.models import Version
from runner.languages import language
from runner.models import Environment
from runner.sandbox.base import Job
from tests.annotation.factories import make_study, make_version
from tests.factories import columns_of

RECORDS = {record.key: record for name in ("javascript", "cpp") for record in records(name)}
KEYS = ("javascript/lru_cache", "javascript/roman", "cpp/inventory", "cpp/top_words")


def attempt_of(person: User, record: Record) -> Attempt:
    version = make_version(**columns_of(record))
    made = take_slot(make_study(people=[person], versions=[version]), person, timezone.now())
    assert isinstance(made, Attempt)
    return made


@pytest.mark.parametrize("key", KEYS)
def test_the_workspace_shows_the_open_function_and_the_visible_tests(key: str, ann: User) -> None:
    record = RECORDS[key]
    attempt = attempt_of(ann, record)
    client = Client()
    client.force_login(ann, backend="django.contrib.auth.backends.ModelBackend")
    page = client.get(reverse("workspace", args=[attempt.pk])).content.decode()
    title = "JavaScript" if record.language == "javascript" else "C++"
    assert f"Your solution, {title}" in page
    assert f'language="{record.language}"' in page
    assert "your function body goes here" in page
    hidden = (
        record.tests[-1].text.strip().splitlines()[-2 if len(record.tests[-1].text.splitlines()) > 1 else -1]
    )
    assert hidden.strip() not in page


@pytest.mark.parametrize("key", KEYS)
def test_a_run_becomes_a_job_in_its_language(key: str, ann: User) -> None:
    record = RECORDS[key]
    attempt = attempt_of(ann, record)
    start = current_draft(attempt).function
    now = timezone.now()
    given: dict[str, Any] = {"function": start, "module": "", "now": now}
    visible = Job.from_json(run_visible(attempt, key="1", **given).execution.job_data)
    scratch = Job.from_json(run_scratch(attempt, key="2", snippet="1 + 1", **given).execution.job_data)
    whole = Job.from_json(submit(attempt, key="3", **given).execution.job_data)
    assert {visible.language, scratch.language, whole.language} == {record.language}
    assert set(visible.expected) < set(record.expected)
    assert whole.tests == record.test_source
    planned = [len(language(record.language).prepare(job).planned) for job in (visible, scratch, whole)]
    assert planned == [record.visible, 0, record.total]


FORMS = {"propose_version": "example_id", "fix_new": "pk"}


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("route", FORMS)
def test_its_forms_speak_its_language_and_have_no_block(
    route: str, key: str, ann: User, curator: User
) -> None:
    version = attempt_of(ann, RECORDS[key]).slot.version
    client = Client()
    client.force_login(curator, backend="django.contrib.auth.backends.ModelBackend")
    page = client.get(reverse(route, args=[getattr(version, FORMS[route])])).content.decode()
    title = "JavaScript" if version.language == "javascript" else "C++"
    for label in ("Tests", "Reference", "Context"):
        assert f'label="{label}, {title}" language="{version.language}"' in page
    assert 'name="block"' not in page
    assert "a line of JSON for each case" in page


@pytest.mark.parametrize("key", KEYS)
def test_a_fix_is_tried_on_the_reference_and_on_what_was_submitted(
    key: str, ann: User, curator: User
) -> None:
    record = RECORDS[key]
    attempt = attempt_of(ann, record)
    version = attempt.slot.version
    Environment.objects.filter(pk=version.environment_id).update(
        image_digest="sha256:0", built_at=timezone.now(), language=record.language
    )
    submit(attempt, function=current_draft(attempt).function, module="", key="1", now=timezone.now())
    edit = edit_of(Version.objects.get(pk=version.pk))
    more = edit.tests.splitlines(keepends=True)
    more = more[:1] if record.test_source.startswith("{") else ["\n// The same once more.\n"]
    fix = try_fix(version, replace(edit, tests=edit.tests + "".join(more)), note="Once more.", by=curator)
    jobs = [Job.from_json(trial.execution.job_data) for trial in fix.trials.select_related("execution")]
    assert len(jobs) == 2
    assert {job.language for job in jobs} == {record.language}
    assert all(more[-1] in job.tests and job.expected == record.expected for job in jobs)
    assert any(record.reference.split("\n")[0] in job.program for job in jobs)
    assert {trial.execution.job_data["tests"] for trial in version.trials.filter(fix=None)} == {
        record.test_source
    }
