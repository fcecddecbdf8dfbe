"""Models and migrations agree, and every migration has a name that says what it does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.core.management import call_command

ROOT = Path(__file__).resolve().parent.parent
OURS = ("runner", "examples", "annotation")


def test_no_model_is_ahead_of_its_migrations(db: None, capsys: pytest.CaptureFixture[str]):
    try:
        call_command("makemigrations", "--check", "--dry-run", verbosity=1)
    except SystemExit as stopped:
        pytest.fail(f"makemigrations would write something (exit {stopped.code}):\n{capsys.readouterr().out}")


@pytest.mark.parametrize("app", OURS)
def test_no_migration_carries_an_automatic_name(app: str):
    names = [path.stem for path in (ROOT / app / "migrations").glob("0*.py")]
    assert [name for name in names if re.search(r"_auto_|_and_more$", name)] == []
    assert len({name[:4] for name in names}) == len(names), "two migrations share a number"
