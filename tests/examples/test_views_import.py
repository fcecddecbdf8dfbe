"""The import pages: who may send a file, what is refused and how, the report while it runs and after, its files."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from annotation.models import User
from examples.importing.uploads import run_import
from examples.models import Dataset, Example, ImportProblem, ImportReport
from tests.factories import make_environment

RECORD = {
    "idx": 7,
    "code": "def add(a, b):\n    return a + b\n\ndef test_add():\n    assert add(1, 2) == 3\n",
    "func_name": "add",
    "revised_instruction": "Add.",
    "repo_name": "someone/sums",
}


@pytest.fixture
def desk(client: Client, curator: User) -> Client:
    """A browser with a curator signed in."""
    client.force_login(curator)
    return client


def file_of(items: Any, name: str = "sample.json") -> SimpleUploadedFile:
    """Return an upload with these records."""
    return SimpleUploadedFile(name, json.dumps(items).encode())


def report_of(**fields: Any) -> ImportReport:
    """Return a report of an import."""
    return ImportReport.objects.create(**{"dataset_name": "demo", "file_name": "sample.json", **fields})


class TestAccess:
    @pytest.mark.parametrize(
        "address", ["imports/", "imports/{}/", "imports/{}/problems.csv", "imports/{}/problems.jsonl"]
    )
    def test_only_curators_see_it(
        self, address: str, client: Client, ann: User, reader: User, curator: User
    ) -> None:
        path = f"/examples/{address.format(report_of().pk)}"
        assert client.get(path)["Location"].startswith("/accounts/login/")
        for person, status in ((ann, 404), (reader, 404), (curator, 200)):
            client.force_login(person)
            assert client.get(path).status_code == status

    def test_only_curators_send_files(self, client: Client, ann: User) -> None:
        assert client.post("/examples/imports/", {"file": file_of([RECORD])}).status_code == 302
        client.force_login(ann)
        assert (
            client.post("/examples/imports/", {"file": file_of([RECORD]), "dataset": "x"}).status_code == 404
        )
        assert not ImportReport.objects.exists()

    def test_a_file_without_token_is_refused(self, curator: User) -> None:
        client = Client(enforce_csrf_checks=True)
        client.force_login(curator)
        assert (
            client.post("/examples/imports/", {"file": file_of([RECORD]), "dataset": "x"}).status_code == 403
        )
        assert not ImportReport.objects.exists()


class TestSend:
    def test_a_file_is_queued_imported_and_reported(self, desk: Client, curator: User) -> None:
        make_environment()
        answer = desk.post(
            "/examples/imports/", {"file": file_of([RECORD]), "dataset": "sums", "licence": "MIT"}
        )
        report = ImportReport.objects.get()
        assert answer["Location"] == f"/examples/imports/{report.pk}/"
        assert "every 2s" in desk.get(answer["Location"]).content.decode()
        run_import(report.pk)
        html = desk.get(answer["Location"]).content.decode()
        assert "every 2s" not in html
        assert "finished" in html
        assert (Dataset.objects.get().licence, Example.objects.get().key) == ("MIT", "7")
        assert "sample.json" in desk.get("/examples/imports/").content.decode()

    def test_only_looking_changes_nothing(self, desk: Client) -> None:
        desk.post(
            "/examples/imports/",
            {"file": file_of([RECORD]), "dataset": "sums", "dry_run": "on", "licence": "MIT"},
        )
        report = ImportReport.objects.get()
        run_import(report.pk)
        assert "would be added" in desk.get(f"/examples/imports/{report.pk}/").content.decode()
        assert not Dataset.objects.exists()

    @pytest.mark.parametrize(
        ("values", "said"),
        [
            ({"dataset": "sums"}, "Choose a file."),
            ({"dataset": "sums", "file": SimpleUploadedFile("empty.json", b"")}, "The file is empty."),
            ({"dataset": "no blanks", "file": file_of([])}, "valid"),
            ({"file": file_of([])}, "required"),
        ],
    )
    def test_what_is_missing_is_said_at_the_field(
        self, values: dict[str, Any], said: str, desk: Client
    ) -> None:
        answer = desk.post("/examples/imports/", values)
        assert answer.status_code == 422
        assert said in answer.content.decode()
        assert not ImportReport.objects.exists()

    def test_a_file_beyond_the_limit_is_refused_with_the_limit(self, desk: Client, settings: Any) -> None:
        settings.IMPORT_MAX_BYTES = 1000
        large = SimpleUploadedFile("large.json", b"[" + b" " * 2000 + b"]")
        answer = desk.post("/examples/imports/", {"file": large, "dataset": "sums"})
        assert answer.status_code == 422
        assert "1000\xa0bytes" in answer.content.decode()

    def test_a_request_far_beyond_the_limit_is_refused_unread(self, desk: Client, settings: Any) -> None:
        settings.IMPORT_MAX_BYTES = 1000
        answer = desk.post(
            "/examples/imports/", b"x" * 200_000, content_type="multipart/form-data; boundary=x"
        )
        assert answer.status_code == 413
        assert "The file is too large" in answer.content.decode()

    def test_a_file_that_is_none_of_ours_says_what_it_is(self, desk: Client) -> None:
        desk.post(
            "/examples/imports/", {"file": SimpleUploadedFile("a.json", b"{not json"), "dataset": "sums"}
        )
        report = ImportReport.objects.get()
        run_import(report.pk)
        assert "The file could not come in" in desk.get(f"/examples/imports/{report.pk}/").content.decode()


class TestReport:
    def test_the_page_is_told_only_when_something_moved(self, desk: Client) -> None:
        report = report_of(state="running", read=50)
        address, ask = f"/examples/imports/{report.pk}/", {"HX-Request": "true"}
        assert desk.get(address, {"seen": "running-50"}, headers=ask).status_code == 204
        html = desk.get(address, {"seen": "running-0"}, headers=ask).content.decode()
        assert "<html" not in html
        assert 'id="report"' in html

    def test_problems_are_bounded_on_the_page_and_whole_in_the_files(self, desk: Client) -> None:
        report = report_of(state="finished", read=150, problem_count=150)
        ImportProblem.objects.bulk_create(
            ImportProblem(
                report=report,
                number=number,
                line=number,
                field="code",
                message=f"bad {number}.",
                remedy="Mend.",
            )
            for number in range(1, 151)
        )
        html = desk.get(f"/examples/imports/{report.pk}/").content.decode()
        assert html.count("<code>code</code>") == 100
        assert "The first 100 of 150" in html
        answer: Any = desk.get(f"/examples/imports/{report.pk}/problems.csv")
        rows = list(csv.reader(io.StringIO(b"".join(answer.streaming_content).decode(), newline="")))
        assert (len(rows), rows[0], rows[1]) == (
            151,
            ["number", "line", "field", "message", "remedy"],
            ["1", "1", "code", "bad 1.", "Mend."],
        )
        answer = desk.get(f"/examples/imports/{report.pk}/problems.jsonl")
        lines = b"".join(answer.streaming_content).decode().splitlines()
        assert json.loads(lines[149]) == {
            "number": 150,
            "line": 150,
            "field": "code",
            "message": "bad 150.",
            "remedy": "Mend.",
        }
        assert "attachment" in answer["Content-Disposition"]

    @pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
    def test_a_cell_that_begins_like_a_formula_is_neutralised(self, start: str, desk: Client) -> None:
        report = report_of(state="finished")
        ImportProblem.objects.create(report=report, number=1, field="key", message=f"{start}1+1", remedy="x")
        answer: Any = desk.get(f"/examples/imports/{report.pk}/problems.csv")
        rows = list(csv.reader(io.StringIO(b"".join(answer.streaming_content).decode(), newline="")))
        assert rows[1][3] == f"'{start}1+1"

    def test_another_form_of_file_is_not_found(self, desk: Client) -> None:
        assert desk.get(f"/examples/imports/{report_of().pk}/problems.exe").status_code == 404

    def test_what_a_file_says_is_escaped(self, desk: Client) -> None:
        report = report_of(state="failed", file_name="<img>.json", message="<script>")
        ImportProblem.objects.create(
            report=report, number=0, field="<b>", message="\x1b[31m<i>", remedy="<u>"
        )
        html = desk.get(f"/examples/imports/{report.pk}/").content.decode()
        for tag in ("<img>", "<script>", "<i>", "<u>"):
            assert tag not in html
