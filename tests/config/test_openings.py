"""An unprivileged account reaches what it needs of a directory closed to it, and nothing else."""

from __future__ import annotations

import os
import pwd
import subprocess
from pathlib import Path

import pytest

from config.openings import entrance_for, setpriv

NOBODY = pwd.getpwnam("nobody")

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root changes accounts and mounts")


@pytest.fixture
def closed(tmp_path) -> Path:
    """A directory that only root may enter, with a clone and a secret beside it."""
    folder = tmp_path / "it's closed"
    (folder / "deeper" / "clone").mkdir(parents=True)
    (folder / "deeper" / "clone" / "page").write_text("served")
    (folder / "secret").write_text("not served")
    folder.chmod(0o700)
    return folder


def enter(entrance, *command, cwd="/") -> subprocess.CompletedProcess[str]:
    return subprocess.run([*entrance, *command], cwd=cwd, capture_output=True, text=True, check=False)


@as_root
def test_the_account_alone_reads_nothing_there(closed):
    alone = setpriv(NOBODY.pw_uid, NOBODY.pw_gid)
    assert enter(alone, "id", "-u").stdout.strip() == str(NOBODY.pw_uid)
    assert enter(alone, "cat", str(closed / "deeper" / "clone" / "page")).returncode != 0


@as_root
def test_with_a_view_of_its_own_it_reads_what_it_needs_and_nothing_else(closed):
    clone = closed / "deeper" / "clone"
    entrance = entrance_for(NOBODY.pw_uid, NOBODY.pw_gid, [clone, Path("/usr")])
    assert enter(entrance, "cat", str(clone / "page")).stdout == "served"
    assert enter(entrance, "id", "-u").stdout.strip() == str(NOBODY.pw_uid)
    assert enter(entrance, "cat", str(closed / "secret")).returncode != 0
    assert enter(entrance, "ls", str(closed)).stdout.split() == ["deeper"]
    assert sorted(os.listdir(closed)) == ["deeper", "secret"], "nothing changed for us"


@as_root
def test_what_it_writes_there_is_written_for_all(closed):
    clone = closed / "deeper" / "clone"
    os.chown(clone, NOBODY.pw_uid, NOBODY.pw_gid)
    entrance = entrance_for(NOBODY.pw_uid, NOBODY.pw_gid, [clone])
    assert enter(entrance, "touch", str(clone / "written")).returncode == 0
    assert (clone / "written").exists()


def test_where_everything_can_be_reached_no_view_is_made():
    assert entrance_for(NOBODY.pw_uid, NOBODY.pw_gid, [Path("/usr/bin"), Path("/usr/lib")]) == []
