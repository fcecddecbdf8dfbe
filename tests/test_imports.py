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


# Refuses what only requirements-dev.txt brings, then lets Django load every app, the addresses and the worker.
ON_RUN_TIME_PACKAGES = """
import importlib.metadata as metadata, re, sys
name = lambda text: re.sub(r"[-_.]+", "-", text).lower()
pinned = {name(found) for found in re.findall(r"^([A-Za-z0-9._-]+)==", open("requirements.txt").read(), re.M)}
owners = metadata.packages_distributions()
refused = {top for top, dists in owners.items() if not any(name(dist) in pinned for dist in dists)} - {"pip"}
class Refuse:
    def find_spec(self, full, path=None, target=None):
        if full.partition(".")[0] in refused:
            raise ModuleNotFoundError(f"{full} is not in requirements.txt", name=full)
sys.meta_path.insert(0, Refuse())
import django, os
os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
django.setup()
from django.urls import get_resolver
import config.asgi, config.work, config.serve
print(len(get_resolver().url_patterns), "entries", len(refused), "refused")
"""


def test_the_site_loads_on_the_run_time_packages_alone(tmp_path: Path):
    environment = {"PATH": "/usr/bin:/bin", "BENCHWRIGHT_DATA": str(tmp_path)}
    command = [sys.executable, "-c", ON_RUN_TIME_PACKAGES]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert " entries " in done.stdout
