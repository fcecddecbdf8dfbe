"""Static files are collected when one of them has changed, and only then."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from config.assets import collect_if_changed


@pytest.fixture
def source(settings: Any, tmp_path: Path) -> Path:
    """A static directory with one file, and a data directory of its own."""
    files = tmp_path / "files"
    files.mkdir()
    (files / "site.css").write_text("body { margin: 0 }")
    settings.STATICFILES_DIRS = [files]
    settings.STATICFILES_FINDERS = ["django.contrib.staticfiles.finders.FileSystemFinder"]
    settings.STATIC_ROOT = tmp_path / "collected"
    settings.DATA_DIR = tmp_path
    return files


def test_files_are_collected_once(source: Path, tmp_path: Path):
    assert collect_if_changed() is True
    assert (tmp_path / "collected" / "site.css").exists()
    assert collect_if_changed() is False


def test_a_changed_file_is_collected_and_a_vanished_one_goes(source: Path, tmp_path: Path):
    (source / "old.css").write_text("")
    collect_if_changed()
    (source / "old.css").unlink()
    (source / "site.css").write_text("body { margin: 1rem }")
    assert collect_if_changed() is True
    assert not (tmp_path / "collected" / "old.css").exists()
    assert "1rem" in (tmp_path / "collected" / "site.css").read_text()


def test_a_lost_collection_is_made_again(source: Path, tmp_path: Path):
    collect_if_changed()
    (tmp_path / "collected").rename(tmp_path / "lost")
    assert collect_if_changed() is True
