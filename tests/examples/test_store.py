"""What an import does to the database: new, changed, unchanged, duplicates; claimed, resumed, tried only."""

from __future__ import annotations

import io
import json
from datetime import timedelta
from typing import Any
from unittest.mock import Mock

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import OperationalError
from django.utils import timezone

from annotation.models import User
from examples.importing import store as storing
from examples.importing.detect import read
from examples.importing.store import claim_report, store, store_stream, waiting_reports
from examples.importing.uploads import queue_import, run_import
from examples.jobs import segments_of
from examples.masking import with_tests
from examples.models import AuditEntry, Dataset, Example, ImportReport, Library, Version
from runner.models import Environment
from tests.examples.published import exec_csn
from tests.factories import make_environment

State = ImportReport.State
CODE = "import json\n\ndef {name}(a, b):\n    return a + b\n\ndef test_{name}():\n    assert {name}(1, 2) == {three}\n"


def record(number: int, *, three: int = 3, **fields: Any) -> dict[str, Any]:
    """Return a record in the published shape."""
    name = f"add_{number}"
    return {
        "idx": number,
        "code": CODE.format(name=name, three=three),
        "func_name": name,
        "revised_instruction": "Add.",
        "repo_name": "someone/sums",
        **fields,
    }


def stream_of(items: list[Any]) -> io.BytesIO:
    """Return a file with these records as a JSON list."""
    return io.BytesIO(json.dumps(items).encode())


def load(items: list[Any], *, dataset: str = "sums", **fields: Any) -> ImportReport:
    """Import records and return the report."""
    make_environment()
    report = ImportReport.objects.create(
        dataset_name=dataset, file_name="sums.json", state=State.RUNNING, **fields
    )
    return store_stream(stream_of(items), report)


def counts(report: ImportReport) -> tuple[int, int, int, int, int, int]:
    """Return read, added, changed, unchanged, duplicates, problems."""
    return (
        report.read,
        report.added,
        report.changed,
        report.unchanged,
        report.duplicates,
        report.problem_count,
    )


def test_new_records_become_examples_with_a_version_that_waits_for_its_checks(db: None) -> None:
    report = load([record(1), record(2)])
    assert (report.state, counts(report)) == (State.FINISHED, (2, 2, 0, 0, 0, 0))
    example = Example.objects.get(key="1")
    assert (example.title, example.status, example.repository) == (
        "add_1 in someone/sums",
        "candidate",
        "someone/sums",
    )
    assert example.current is not None
    assert (example.current.number, example.current.check_state) == (1, Version.CheckState.PENDING)
    assert list(example.libraries.values_list("name", "standard")) == [("json", True)]


def test_a_second_import_changes_nothing(db: None) -> None:
    load([record(1), record(2)])
    before = list(Version.objects.values_list("pk", "content_hash"))
    report = load([record(1), record(2)])
    assert counts(report) == (2, 0, 0, 2, 0, 0)
    assert list(Version.objects.values_list("pk", "content_hash")) == before
    assert Library.objects.count() == 1


def test_a_record_that_changed_becomes_the_next_version_and_the_old_one_stays(db: None) -> None:
    load([record(1), record(2)])
    report = load([record(1, three=4), record(2)])
    assert counts(report) == (2, 0, 1, 1, 0, 0)
    example = Example.objects.get(key="1")
    assert [version.number for version in example.versions.all()] == [1, 2]
    assert example.current == example.versions.get(number=2)
    assert "== 3" in example.versions.get(number=1).segments[0]["text"]


def test_content_the_example_had_before_is_no_change(db: None) -> None:
    load([record(1)])
    load([record(1, three=4)])
    assert counts(load([record(1)])) == (1, 0, 0, 1, 0, 0)


def test_the_same_content_in_another_dataset_comes_in_and_is_counted_as_a_duplicate(db: None) -> None:
    load([record(1), record(2)])
    report = load([record(1), record(3)], dataset="other")
    assert counts(report) == (2, 2, 0, 0, 1, 0)


def test_bad_records_are_kept_with_their_place_while_good_ones_come_in(db: None) -> None:
    report = load(
        [record(1), {"idx": 2, "func_name": "f", "code": "x"}, record(3, code="def f(:\n"), record(4)]
    )
    assert (report.state, counts(report)) == (State.FINISHED, (4, 2, 0, 0, 0, 2))
    assert list(report.problems.values_list("number", "field")) == [(2, "revised_instruction"), (3, "code")]


def test_a_file_without_a_single_good_record_has_failed(db: None) -> None:
    report = load([record(1, code="def f(:\n")])
    assert (report.state, report.dataset) == (State.FAILED, None)
    assert not Dataset.objects.exists()


def test_trying_only_counts_and_changes_nothing(db: None) -> None:
    load([record(1)])
    report = load([record(1, three=4), record(2)], dry_run=True)
    assert counts(report) == (2, 1, 1, 0, 0, 0)
    assert (Example.objects.count(), Version.objects.count()) == (1, 1)
    assert AuditEntry.objects.filter(action="records imported").count() == 1


def test_all_published_records_give_their_source_back_from_the_database(db: None) -> None:
    load(exec_csn(), dataset="exec-csn")
    for item in exec_csn():
        version = Version.objects.get(example__key=str(item["idx"]))
        whole = with_tests(version.context, version.gap, version.reference, segments_of(version))
        assert whole == item["code"], item["idx"]


def test_the_environment_is_the_smallest_that_provides_what_is_imported(db: None) -> None:
    make_environment("science", digest="sha256:" + "b" * 64)
    Environment.objects.filter(name="science").update(provides=["numpy", "pandas", "requests"])
    load([record(1), record(2, code="import numpy\n" + record(2)["code"])])
    chosen = dict(Version.objects.values_list("example__key", "environment__name"))
    assert chosen == {"1": "plain", "2": "science"}


def test_an_import_that_broke_off_goes_on_behind_what_is_in(
    db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storing, "BATCH", 10)
    items = [record(number) for number in range(35)]
    report = ImportReport.objects.create(dataset_name="sums", file_name="sums.json", state=State.RUNNING)
    make_environment()

    def breaks_off() -> Any:
        for number, item in enumerate(read(stream_of(items))):
            if number == 25:
                raise KeyboardInterrupt
            yield item

    with pytest.raises(KeyboardInterrupt):
        store(breaks_off(), report)
    report = ImportReport.objects.get()
    assert (report.read, report.state, Example.objects.count()) == (20, State.RUNNING, 20)
    report = store_stream(stream_of(items), report)
    assert counts(report) == (35, 35, 0, 0, 0, 0)
    assert Example.objects.count() == Version.objects.count() == 35


def test_a_report_is_taken_once_and_again_only_when_its_worker_fell_silent(db: None) -> None:
    report = ImportReport.objects.create(dataset_name="sums", file_name="a.json")
    assert waiting_reports() == [report.pk]
    assert claim_report(report.pk) is not None
    assert claim_report(report.pk) is None
    assert waiting_reports() == []
    ImportReport.objects.update(seen_at=timezone.now() - timedelta(seconds=61))
    assert waiting_reports() == [report.pk]
    assert claim_report(report.pk) is not None


def test_an_upload_is_kept_until_it_is_imported_and_then_removed(
    curator: User, settings: Any, tmp_path: Any
) -> None:
    settings.MEDIA_ROOT = tmp_path
    make_environment()
    upload = SimpleUploadedFile("sums.json", stream_of([record(1)]).read())
    report = queue_import(upload, dataset="sums", licence="MIT", dry_run=False, by=curator)
    assert len(list((tmp_path / "imports").iterdir())) == 1
    assert run_import(report.pk) is not None
    assert list((tmp_path / "imports").iterdir()) == []
    assert run_import(report.pk) is None
    entry = AuditEntry.objects.get(action="records imported")
    assert (entry.person, entry.subject, entry.detail["added"]) == (curator, "dataset:sums", 1)


def test_a_licence_that_is_named_later_does_not_replace_the_one_there_is(
    curator: User, settings: Any, tmp_path: Any
) -> None:
    settings.MEDIA_ROOT = tmp_path
    make_environment()
    for licence in ("MIT", "ISC"):
        upload = SimpleUploadedFile("sums.json", stream_of([record(1)]).read())
        run_import(queue_import(upload, dataset="sums", licence=licence, dry_run=False, by=curator).pk)
    assert Dataset.objects.get().licence == "MIT"


def test_an_upload_that_is_gone_says_so(curator: User, settings: Any, tmp_path: Any) -> None:
    settings.MEDIA_ROOT = tmp_path
    upload = SimpleUploadedFile("sums.json", b"[]")
    report = queue_import(upload, dataset="sums", licence="", dry_run=False, by=curator)
    for path in (tmp_path / "imports").iterdir():
        path.unlink()
    done = run_import(report.pk)
    assert done is not None
    assert (done.state, done.message) == (State.FAILED, "The uploaded file is gone. Send it again.")


def test_an_import_that_meets_an_error_of_ours_fails_once_and_says_so(
    curator: User, settings: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Left running it would be taken again every minute, for ever, by a worker that dies of it each time."""
    settings.MEDIA_ROOT = tmp_path
    make_environment()
    monkeypatch.setattr(storing, "_columns", lambda record: {"visible": 10**30})
    upload = SimpleUploadedFile("sums.json", stream_of([record(1)]).read())
    report = queue_import(upload, dataset="sums", licence="", dry_run=False, by=curator)
    run_import(report.pk)
    report.refresh_from_db()
    assert (report.state, report.read) == (State.FAILED, 0)
    assert "OverflowError" in report.message
    assert waiting_reports() == []


def test_an_import_whose_database_went_away_waits_to_be_taken_again(
    curator: User, settings: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.MEDIA_ROOT = tmp_path
    upload = SimpleUploadedFile("sums.json", stream_of([record(1)]).read())
    report = queue_import(upload, dataset="sums", licence="", dry_run=False, by=curator)
    monkeypatch.setattr(storing, "_store_batch", Mock(side_effect=OperationalError))
    with pytest.raises(OperationalError):
        run_import(report.pk)
    report.refresh_from_db()
    assert report.is_open
    assert len(list((tmp_path / "imports").iterdir())) == 1
