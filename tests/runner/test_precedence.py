"""Runs that somebody watches go first: samples, boxes of the bulk queue and refills of the pool give way to them."""

from __future__ import annotations

import os
import threading
from contextlib import ExitStack

import pytest

from runner import boxes, execution, modes, tasks
from runner.environments.building import BuiltImage
from runner.sandbox import precedence
from runner.sandbox.base import Job, Limits
from runner.sandbox.engine import Engine
from runner.sandbox.pool import Pool
from runner.sandbox.precedence import Precedence
from runner.sandbox.zygote import LANDLOCK, WINDOW, Kind, Line
from tests.runner.fakes import queued
from tests.services import wait_until

HOURS = 10_000.0


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run goes first for hours, and other work waits as long."""
    monkeypatch.setattr(precedence, "FIRST_SECONDS", HOURS)
    monkeypatch.setattr(precedence, "GIVE_WAY_SECONDS", HOURS)


@pytest.mark.usefixtures("patient")
def test_other_work_waits_until_the_last_run_that_goes_first_has_ended() -> None:
    order, said = Precedence(), list[str]()

    def other() -> None:
        order.give_way()
        said.append("other work")

    with ExitStack() as runs:
        runs.enter_context(order.first())
        thread = threading.Thread(target=other)
        thread.start()
        with order.first():
            pass
        assert order.left_seconds() > HOURS / 2
        assert thread.is_alive()
        said.append("the run ended")
    thread.join(60)
    assert said == ["the run ended", "other work"]
    assert order.left_seconds() == 0


def test_a_long_run_goes_first_only_in_its_beginning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(precedence, "FIRST_SECONDS", 0.0)
    order = Precedence()
    with order.first():
        order.give_way()
        assert order.left_seconds() == 0


def test_other_work_gives_way_for_a_while_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(precedence, "FIRST_SECONDS", HOURS)
    monkeypatch.setattr(precedence, "GIVE_WAY_SECONDS", 0.05)
    order = Precedence()
    with order.first():
        order.give_way()
        assert order.left_seconds() > HOURS / 2


@pytest.mark.django_db
@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize(("queue", "goes_first"), [("interactive", True), ("bulk", False)])
def test_an_execution_that_comes_by_the_interactive_queue_goes_first(
    queue: str, goes_first: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    monkeypatch.setattr(
        execution, "execute", lambda _: found.append(boxes._process.precedence.left_seconds() > 0)
    )
    tasks.execute.apply(args=[queued(queue=queue).pk], routing_key=queue, throw=True)
    assert found == [goes_first]
    assert boxes._process.precedence.left_seconds() == 0


@pytest.mark.docker
@pytest.mark.usefixtures("patient")
def test_no_further_sample_is_sent_while_a_run_goes_first(engine: Engine, plain: BuiltImage) -> None:
    if modes.tried(engine, LANDLOCK, plain.digest) != modes.HOLDS:
        pytest.skip("zygote does not hold here")
    jobs = [
        Job(f"def f():\n    return {n}\n", f"def test():\n    assert f() == {n}\n", ("test",), Limits(5, 60))
        for n in range(12)
    ]
    ran, ran_before_it_waited = list[int](), list[int]()
    run = ExitStack()

    class Noticed(Precedence):
        def give_way(self) -> None:
            if self.left_seconds():
                ran_before_it_waited.append(len(ran))
                run.close()
            super().give_way()

    order = Noticed()
    kind = Kind.of(jobs[0], plain.digest)
    line = Line(engine, LANDLOCK, kind, keeper=f"tests-of-precedence-{os.getpid()}", precedence=order)
    try:
        for each in line.run(jobs):
            if each is not None:
                assert each.measurement is not None
                ran.append(each.place)
                if len(ran) == 2:
                    run.enter_context(order.first())
    finally:
        line.close()
    assert len(ran_before_it_waited) == 1
    assert 2 <= ran_before_it_waited[0] <= 2 + WINDOW
    assert sorted(ran) == list(range(len(jobs)))


@pytest.mark.docker
@pytest.mark.usefixtures("patient")
def test_the_pool_starts_no_successor_while_a_run_goes_first(
    engine: Engine, plain: BuiltImage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runner.sandbox.pool.REST_SECONDS", 0.0)
    asked = list[float]()

    class Noticed(Precedence):
        def left_seconds(self) -> float:
            asked.append(super().left_seconds())
            return asked[-1]

    order = Noticed()
    pool = Pool(engine, {plain.digest: 3}, precedence=order)
    job = Job("def f():\n    return 1\n", "def test():\n    assert f() == 1\n", ("test",), Limits.for_cpu(5))
    try:
        assert pool.wait_until_full(60)
        with order.first():
            asked.clear()
            pool.run(
                job, image=plain.digest, name=f"first-{os.getpid()}", on_started=bool, on_row=lambda _: None
            )
            wait_until(lambda: len(asked) > 20, "the pool to ask who goes first")
            assert pool.waiting(plain.digest) == 2
        assert pool.wait_until_full(60)
    finally:
        pool.close()
