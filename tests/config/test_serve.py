"""`make run`'s parent: real processes, restarted when they die, gone when it ends."""

from __future__ import annotations

import http.client
import json
import os
import pwd
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import docker
import pytest

from config import locks
from tests.migrated import give_tables
from tests.services import free_port

pytestmark = [pytest.mark.docker, pytest.mark.timeout(240)]

ROOT = Path(__file__).resolve().parents[2]


class Site:
    """A site on a free port, with its log."""

    def __init__(self, room: Path) -> None:
        self.port, self.log = free_port(), room / "log"
        self.environment = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "BENCHWRIGHT_DATA": str(room / "data"),
            "BENCHWRIGHT_USER": "nobody",
            "PORT": str(self.port),
            "RUNNER_POOL_SIZE": "1",
            "WEB_PROCESSES": "2",
        }
        give_tables(room / "data")
        self.process = self.start()

    def start(self) -> subprocess.Popen:
        with self.log.open("ab") as log:
            command = ["setpriv", "--pdeathsig", "TERM", "--", sys.executable, "-m", "config.serve"]
            return subprocess.Popen(command, cwd=ROOT, env=self.environment, stdout=log, stderr=log)

    def said(self) -> str:
        return self.log.read_text()

    def health(self) -> dict[str, str]:
        client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        client.request("GET", "/healthz")
        return json.loads(client.getresponse().read())

    def children(self) -> dict[str, int]:
        """The children's process ids by module name; the later of two web processes is `config.web 2`."""
        listed = subprocess.run(
            ["ps", "-o", "pid=,args=", "--ppid", str(self.process.pid)], capture_output=True, text=True
        ).stdout
        found = {}
        for line in listed.splitlines():
            pid, _, words = line.strip().partition(" ")
            name = next((name for name in ("config.web", "config.work") if name in words), "redis")
            found[f"{name} 2" if name in found else name] = int(pid)
        return found


def wait_for(holds, seconds=90):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if holds():
            return True
        time.sleep(0.1)
    return False


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def containers_of(pid: int) -> list[str]:
    listed = docker.from_env().api.containers(all=True, filters={"label": "org.benchwright.owner"})
    return [box["Id"] for box in listed if f"/{pid}-" in box["Labels"]["org.benchwright.owner"]]


@pytest.fixture
def site(tmp_path):
    site = Site(tmp_path)
    assert wait_for(lambda: "ready at" in site.said()), site.said()
    yield site
    site.process.terminate()
    site.process.wait(60)


def test_a_site_serves_restarts_what_dies_and_leaves_nothing_behind(site):
    assert set(site.children()) == {"redis", "config.web", "config.web 2", "config.work"}
    assert wait_for(lambda: site.health()["broker"] == "ok")
    assert wait_for(lambda: site.health()["worker"] != "unknown")
    before = site.children()
    if os.geteuid() == 0:
        owners = {name: Path(f"/proc/{pid}").stat().st_uid for name, pid in before.items()}
        assert owners["config.web"] == owners["redis"] == pwd.getpwnam("nobody").pw_uid
        assert owners["config.work"] == 0

    os.kill(before["config.web"], signal.SIGKILL)
    assert site.health()["database"] == "ok", "the socket is the parent's: the next web process answers"
    os.kill(before["config.work"], signal.SIGKILL)
    assert wait_for(lambda: set(before) == set(site.children()))
    after = site.children()
    assert after["redis"] == before["redis"]
    assert before["config.web"] not in after.values()
    assert before["config.web 2"] in after.values()
    assert after["config.work"] != before["config.work"]

    second = subprocess.run(
        [sys.executable, "-m", "config.serve"],
        cwd=ROOT,
        env={**site.environment, "PORT": str(free_port())},
        capture_output=True,
        text=True,
    )
    assert second.returncode == 1
    assert "runs on" in second.stderr

    site.process.terminate()
    assert site.process.wait(60) == 0
    assert [pid for pid in after.values() if alive(pid)] == []
    assert containers_of(after["config.work"]) == []


def test_children_end_with_a_parent_that_is_killed(site):
    children = site.children()
    site.process.kill()
    site.process.wait(10)
    assert wait_for(lambda: not any(alive(pid) for pid in children.values()))
    assert wait_for(lambda: containers_of(children["config.work"]) == [])


def test_a_port_in_use_is_said_plainly(tmp_path):
    taken = free_port()

    with socket.create_server(("127.0.0.1", taken)):
        tried = subprocess.run(
            [sys.executable, "-m", "config.serve"],
            cwd=ROOT,
            env={**os.environ, "BENCHWRIGHT_DATA": str(tmp_path), "PORT": str(taken)},
            capture_output=True,
            text=True,
        )
    assert tried.returncode == 1
    assert "Choose another by HOST and PORT" in tried.stderr


def test_a_lock_is_held_once_and_a_link_is_refused(tmp_path):
    held = locks.take(tmp_path / "lock")
    assert held
    assert locks.take(tmp_path / "lock") is None
    held.close()
    assert locks.take(tmp_path / "lock")
    (tmp_path / "link").symlink_to(tmp_path / "lock")
    with pytest.raises(OSError, match="link"):
        locks.take(tmp_path / "link")
