"""Languages that build their programs: whose time that is, and whose word counts about it. Pure."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from django.utils import timezone

from runner import boxes
from runner.languages import language
from runner.models import Environment
from runner.outcome import Measurement, Outcome, judge
from runner.sandbox.base import Job, Limits, SandboxUnavailable
from runner.sandbox.conversation import Conversation
from runner.sandbox.inside.counting import Clock

END = {
    "loaded": True,
    "load_error": "",
    "exit_status": 0,
    "signal": None,
    "out_of_memory": False,
    "cpu_exceeded": False,
    "wall_exceeded": False,
    "output_exceeded": False,
    "cpu_seconds": 0.1,
    "wall_seconds": 0.2,
    "memory_bytes": 1,
    "stdout": "",
    "stderr": "",
}
JOB = Job("", "void test_f() { assert(f()); }", ("test_f",), Limits.for_cpu(1), language="cpp")


class Said:
    """A box that says these frames, whatever it hears."""

    def __init__(self, *frames: dict[str, Any]) -> None:
        self.frames = list(frames)
        self.heard: list[bytes] = []

    def send(self, data: bytes, *, timeout: float) -> None:
        self.heard.append(data)

    def receive(self, *, until: float) -> dict[str, Any]:
        return self.frames.pop(0)


def row(**facts: Any) -> dict[str, Any]:
    return {"kind": "row", "row": facts}


def end(**facts: Any) -> dict[str, Any]:
    return {"kind": "ended", "facts": {**END, **facts}}


def came_of(*frames: dict[str, Any], job: Job = JOB) -> Measurement:
    said = Said({"kind": "loaded"}, *frames, {"kind": "dirty"})
    talk = Conversation(said, job, language(job.language).prepare(job), lambda row: None)  # type: ignore[arg-type]
    talk.begin()
    assert json.loads(said.heard[0])["build_seconds"] == (20.0 if job.language == "cpp" else 0.0)
    return talk.finish({}, on_slow=lambda: None, kill=lambda: True)


BEGUN = (
    row(begin="test_f"),
    row(test="test_f", assertion=1, outcome="PASSED", line=1, message="", values=[], ms=1),
)
PASSED = (
    *BEGUN,
    row(test="test_f", assertion=None, outcome="PASSED", line=None, message="", values=[], ms=1),
)


def test_the_share_of_a_build_is_said_beside_the_outcome() -> None:
    measured = came_of(row(built=0.93), *PASSED, end())
    assert judge(measured, JOB.expected).outcome is Outcome.PASSED
    assert measured.facts == {"build_seconds": "0.93", "build_limit_seconds": "20"}


def test_a_build_that_failed_is_a_load_error_with_its_words() -> None:
    measured = came_of(row(load_error="solution.cpp:1:1: error"), end(exit_status=1))
    assert judge(measured, JOB.expected).outcome is Outcome.LOAD_ERROR
    assert measured.load_error == "solution.cpp:1:1: error"


def test_what_a_program_says_of_its_build_is_not_believed() -> None:
    measured = came_of(row(built=0.93), row(load_error="x"), row(built=0), *PASSED, end())
    assert judge(measured, JOB.expected).outcome is Outcome.PASSED
    assert measured.facts["build_seconds"] == "0.93"
    python = Job("", "def test_f():\n    assert f()\n", ("test_f",), Limits.for_cpu(1))
    assert came_of(row(load_error="x"), row(built=0), *PASSED, end(), job=python).facts == {}


def test_a_program_that_leaves_before_its_first_test_was_being_loaded() -> None:
    measured = came_of(row(built=0.93), end(exit_status=3))
    assert judge(measured, JOB.expected).outcome is Outcome.LOAD_ERROR
    assert measured.load_error.endswith("with status 3.")
    assert judge(came_of(row(built=0.93), BEGUN[0], end(), end()), JOB.expected).outcome is Outcome.EARLY_EXIT


def test_a_build_that_only_wall_time_ended_is_the_hosts_fault() -> None:
    with pytest.raises(SandboxUnavailable, match="too busy"):
        came_of(end(wall_exceeded=True, exit_status=None))
    measured = came_of(row(built=0.93), BEGUN[0], end(wall_exceeded=True, exit_status=None))
    assert judge(measured, JOB.expected).outcome is Outcome.TIMEOUT_WALL
    measured = came_of(end(wall_exceeded=True, cpu_exceeded=True, exit_status=None))
    assert judge(measured, JOB.expected).outcome is Outcome.TIMEOUT_CPU


class Spent:
    """Counters that a test sets."""

    seconds = 0.0

    def cpu_seconds(self) -> float:
        return self.seconds


def test_a_build_has_a_share_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("runner.sandbox.inside.counting.time.monotonic", lambda: now[0])
    spent = Spent()
    clock = Clock(spent, {"cpu_seconds": 1.0, "wall_seconds": 3.0, "build_seconds": 20.0})  # type: ignore[arg-type]
    spent.seconds, now[0] = 8.0, 110.0
    assert clock.passed() == set()
    clock.built()
    assert (clock.cpu(), clock.wall()) == (0.0, 0.0)
    spent.seconds, now[0] = 8.5, 111.0
    assert clock.passed() == set()
    assert (clock.cpu(), clock.wall()) == (0.5, 1.0)
    spent.seconds, now[0] = 9.1, 112.0
    assert clock.passed() == {"cpu"}
    clock.next_process()
    spent.seconds, now[0] = 20.0, 113.0
    assert clock.passed() == set()
    spent.seconds, now[0] = 21.2, 114.0  # 8 s and 12.1 s: more than the 20 s that there are for all builds
    assert clock.passed() == {"cpu"}


def test_without_a_build_the_limits_count_at_once() -> None:
    spent = Spent()
    clock = Clock(spent, {"cpu_seconds": 1.0, "wall_seconds": 3.0})  # type: ignore[arg-type]
    spent.seconds = 1.1
    time.sleep(0.003)
    assert clock.passed() == {"cpu"}


@pytest.mark.django_db
def test_boxes_wait_for_python_only() -> None:
    for name, spoken in (("plain", "python"), ("node", "javascript"), ("cpp", "cpp")):
        built = {"language": spoken, "image_digest": f"sha256:{name}", "built_at": timezone.now()}
        Environment.objects.update_or_create(name=name, defaults=built)
    assert list(boxes.warm_sizes()) == ["sha256:plain"]
