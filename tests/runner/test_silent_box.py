"""A box that says nothing beyond its wall limit: its program's doing where it still ran, the engine's where it did not."""

from __future__ import annotations

import os

import pytest

from runner.languages import language
from runner.outcome import Outcome, judge
from runner.sandbox.base import SandboxUnavailable
from runner.sandbox.conversation import SILENT, Conversation
from runner.sandbox.stream import StreamTimeout
from tests.runner.fakes import a_job


class Silent:
    """The stream of a box from which nothing comes."""

    def send(self, data: bytes, *, timeout: float) -> None:
        pass

    def receive(self, *, until: float) -> dict[str, object]:
        raise StreamTimeout


def talk() -> Conversation:
    job = a_job()
    made = Conversation(Silent(), job, language("python").prepare(job), lambda row: None)
    made.begin()
    return made


def test_one_that_had_to_be_killed_is_over_its_wall_limit():
    measured = talk().finish({}, on_slow=lambda: None, kill=lambda: True)
    assert judge(measured, ("test_one",)).outcome == Outcome.TIMEOUT_WALL


def test_one_that_had_ended_or_cannot_be_asked_for_is_a_fault_of_ours():
    with pytest.raises(SandboxUnavailable, match=SILENT):
        talk().finish({}, on_slow=lambda: None, kill=lambda: False)


@pytest.mark.docker
def test_the_engine_says_whether_the_box_ran_until_it_was_killed(engine, plain):
    from runner.sandbox.base import Limits
    from runner.sandbox.settings import BoxSettings

    settings = BoxSettings.of(plain.digest, language("python"), 0, Limits.for_cpu(1))
    box = engine.start(settings, keeper=f"silent-box-{os.getpid()}")
    assert engine.kill(box)
    engine.remove_all(f"silent-box-{os.getpid()}")
    assert not engine.kill(box)
    engine.dispose(box)
