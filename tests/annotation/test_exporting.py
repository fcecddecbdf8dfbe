"""Rows of a study: pseudonyms, formulas made harmless, every column in the codebook, flat memory."""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC, datetime, timedelta

import pytest

from annotation.codebook import TABLES, codebook
from annotation.exporting import ROWS, export, pseudonyms
from annotation.models import Beat, Pause, Reveal, Run, SecondJudgement, Verdict, VerdictStep
from tests.factories import make_attempt, make_study, make_version

NOON = datetime(2026, 11, 29, 12, tzinfo=UTC)


@pytest.fixture
def study(ann, ben):
    versions = [make_version("a"), make_version("b")]
    study = make_study(versions=versions, people=[ann, ben], idle_limit_seconds=60)
    attempt = make_attempt(study, versions[0], ann, seconds=90, started_at=NOON)
    for second in range(0, 91, 15):
        Beat.objects.create(
            attempt=attempt, at=NOON + timedelta(seconds=second), tab="t", visible=True, ms_since_input=1000
        )
    Pause.objects.create(
        attempt=attempt, started_at=NOON + timedelta(seconds=60), ended_at=NOON + timedelta(seconds=75)
    )
    make_attempt(study, versions[0], ben, solved=False, outcome="knew_it")
    VerdictStep.objects.create(attempt=attempt, number=1, kind="saved", changed={"text": "=1"}, by=ann)
    reveal = Reveal.objects.create(attempt=attempt)
    SecondJudgement.objects.create(
        reveal=reveal, reference="right", tests="weak", instruction_quality=0, test_quality=2
    )
    make_attempt(study, versions[1], ben)
    return study


def as_csv(study, table: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(b"".join(export(study, table, "csv")).decode(), newline="")))


def as_jsonl(study, table: str) -> list[dict]:
    return [json.loads(line) for line in b"".join(export(study, table, "jsonl")).splitlines()]


@pytest.mark.parametrize("table", TABLES)
def test_every_column_is_in_the_codebook_and_both_forms_have_the_same_rows(table, study):
    rows, items = as_csv(study, table), as_jsonl(study, table)
    columns = [column.name for column in TABLES[table].columns]
    assert len(rows) == len(items) > 0
    assert list(rows[0]) == list(items[0]) == columns
    described = codebook(study)
    assert all(f"| `{name}` |" in described for name in columns)
    assert ROWS.keys() | {"events", "people"} == TABLES.keys()


@pytest.mark.parametrize("table", TABLES)
def test_no_user_name_and_no_pseudonym_of_the_site_leaves(table, study, ann, ben):
    text = b"".join(export(study, table, "jsonl")).decode()
    assert "P01" in text
    for person in (ann, ben):
        assert person.pseudonym not in text
        assert f'"{person.username}"' not in text


def test_pseudonyms_stay_when_people_join_and_differ_between_studies(study, ann, ben, curator):
    before = pseudonyms(study)
    study.people.create(person=curator)
    study.people.filter(person=ann).update(active=False)
    assert {person: name for person, name in pseudonyms(study).items() if person != curator.pk} == before
    other = make_study("s-02", versions=[make_version("c")], people=[ben, ann])
    assert pseudonyms(other)[ben.pk] == "P01" != before[ben.pk]


def test_an_attempt_says_its_times_outcome_and_why_it_is_left_out(study):
    first, second, third = as_jsonl(study, "attempts")
    assert (first["person"], first["solved"], first["solved_at_submission"]) == ("P01", True, 1)
    assert first["paused_seconds"] == 15
    kinds = ("paused", "outage", "waiting", "idle", "active", "reading")
    assert sum(first[f"{kind}_seconds"] for kind in kinds) == 90
    assert first["counted_seconds_60"] <= first["counted_seconds_120"] <= first["counted_seconds_300"]
    assert (second["left_out"], second["outcome"]) == ("knew it already", "knew_it")
    assert third["example"].endswith("v1")


def test_intervals_add_up_to_the_attempt(study):
    first = as_jsonl(study, "attempts")[0]["attempt"]
    rows = [row for row in as_jsonl(study, "intervals") if row["attempt"] == first]
    assert sum(row["seconds"] for row in rows) == 90
    assert rows[0]["start"] == "2026-11-29T12:00:00+00:00"


@pytest.mark.parametrize("text", ["=1+1", "first;=1+1"])
def test_text_that_a_spreadsheet_would_run_is_neutral_in_csv_and_whole_in_jsonl(text, study):
    Verdict.objects.update(text=text)
    assert as_csv(study, "verdicts")[0]["text"] == text.replace("=1", "'=1")
    assert as_jsonl(study, "verdicts")[0]["text"] == text


def test_code_with_line_breaks_quotes_and_commas_comes_back_from_csv(study):
    code = 'def f():\r\n\treturn "a, b"\n'
    Run.objects.update(function=code)
    assert as_csv(study, "runs")[0]["function"] == code


def test_queries_grow_by_batches_and_not_by_attempts(study, ann, django_assert_num_queries, monkeypatch):
    with django_assert_num_queries(12):
        as_jsonl(study, "attempts")
    for at in range(3):
        version = make_version(f"more{at}")
        study.slots.create(version=version, number=1)
        make_attempt(study, version, ann)
    with django_assert_num_queries(12):
        as_jsonl(study, "attempts")


def test_a_table_there_is_none_of_is_a_key_error(study):
    with pytest.raises(KeyError):
        export(study, "passwords", "csv")
