"""The scripts behind make run say what is wrong and what to do, before they change anything."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def script(name: str, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Return what a script did with these words and these variables beside ours."""
    command = [str(ROOT / "scripts" / name), *words]
    everything = {**os.environ, **environment}
    return subprocess.run(command, env=everything, capture_output=True, text=True, check=False, timeout=120)


def test_a_port_in_use_is_named_with_the_way_out_and_nothing_is_made(tmp_path: Path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = script("run.sh", PORT=port, HOST="127.0.0.1", BENCHWRIGHT_DATA=str(tmp_path / "data"))
    assert done.returncode == 1
    assert f"127.0.0.1:{port}" in done.stderr
    assert "make run PORT=" in done.stderr
    assert not (tmp_path / "data").exists()


@pytest.mark.skipif(not (ROOT / ".venv/bin/python").exists(), reason="no .venv: make test makes it")
def test_an_engine_that_does_not_answer_is_named_with_the_way_out(tmp_path: Path):
    done = script("engine.sh", DOCKER_HOST=f"unix://{tmp_path}/none.sock")
    assert done.returncode == 1
    assert f"DOCKER_HOST points to unix://{tmp_path}/none.sock" in done.stderr


@pytest.mark.skipif(shutil.which("dpkg-query") is None, reason="not a Debian system")
def test_a_package_that_is_installed_is_not_installed_again(tmp_path: Path):
    done = script("debian.sh", "bash", BENCHWRIGHT_DATA=str(tmp_path / "data"))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert not (tmp_path / "data").exists()


@pytest.mark.skipif(shutil.which("dpkg-query") is None, reason="not a Debian system")
def test_who_may_not_install_is_told_what_to_ask_for(tmp_path: Path):
    """`id` is replaced by one that says 1000, so that nothing is installed whoever runs this."""
    (tmp_path / "id").write_text("#!/bin/sh\necho 1000\n")
    (tmp_path / "id").chmod(0o755)
    done = script("debian.sh", "no-such-package", PATH=f"{tmp_path}:{os.environ['PATH']}")
    assert done.returncode == 1
    assert "sudo apt-get install --no-install-recommends no-such-package" in done.stderr
