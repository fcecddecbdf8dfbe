"""Imports run one way: runner <- examples <- annotation; the contracts stand in pyproject.toml."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COMMAND = [sys.executable, "-c", "from importlinter.cli import lint_imports_command; lint_imports_command()"]


def test_every_import_contract_is_kept():
    done = subprocess.run([*COMMAND, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert "0 broken" in done.stdout


def test_top_level_holds_only_what_the_architecture_page_shows():
    """A file or folder at the top that docs/architecture.md does not name is one that no reader can place."""
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    top = {line.split("/")[0] for line in tracked.stdout.splitlines()}
    page = (ROOT / "docs" / "architecture.md").read_text()
    assert sorted(name for name in top if name not in page) == []
