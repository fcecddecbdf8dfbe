"""What a program prints is stored by both databases, whatever it prints."""

from __future__ import annotations

from dataclasses import replace

from runner.execution import execute
from runner.models import Execution, bounded
from runner.outcome import Outcome, Row
from tests.runner.fakes import PASSED, queued, sandboxed

NASTY = "a\x00b\ud800c\udc80 \U0001f600 \u202e"


def test_nul_and_surrogates_are_stored_as_replacement_characters(either_database, monkeypatch):
    run = queued()
    measured = replace(
        PASSED,
        rows=(Row("test_one", 1, Outcome.FAILED, message=NASTY, values=(NASTY,)), PASSED.rows[1]),
        stdout=NASTY,
        stderr=NASTY,
        load_error=NASTY,
        facts={"said": NASTY},
    )
    with sandboxed(monkeypatch, measured):
        execute(run.pk)
    stored = Execution.objects.get(pk=run.pk)
    assert stored.state == "finished", stored.reason
    assert stored.stdout == "a\ufffdb\ufffdc\ufffd \U0001f600 \u202e"
    assert stored.rows.first().values == [stored.stdout]
    assert stored.facts["said"] == stored.stdout


def test_long_text_loses_its_middle_and_says_so():
    cut = bounded("a" * 1000, 100)
    assert cut.startswith("a" * 50 + "\n")
    assert "900 characters left out" in cut
