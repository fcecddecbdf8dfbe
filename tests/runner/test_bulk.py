"""Samples of an evaluation run in batches: claimed, run, judged and saved together, each as if it had been alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from django.utils import timezone

from runner import boxes, bulk, claims, execution, modes, reconcile, waking
from runner.environments.building import BuiltImage
from runner.models import Environment, Execution, TestRow
from runner.sandbox.base import Canary, HostUnfit, Job, Limits, SandboxUnavailable
from runner.sandbox.zygote import Line, Ran

USUAL = Limits(cpu_seconds=5, wall_seconds=60)
TESTS = "def test_f():\n    assert f(1) == 2\n    assert f(2) == 3\n"
RIGHT, WRONG = "def f(x):\n    return x + 1\n", "def f(x):\n    return x\n"

OWN_EQUALITY = """
class Number:
    def __init__(self, value):
        self.value = value
    def __eq__(self, other):
        return self.value == other
def f(x):
    return Number(x + 1)
"""


def job(program: str = RIGHT, limits: Limits = USUAL, tests: str = TESTS, **rest: object) -> Job:
    return Job(program, tests, ("test_f",), limits, **rest)  # type: ignore[arg-type]


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, object]]:
    """The messages that a broker would have had."""
    sent: list[tuple[str, object]] = []
    monkeypatch.setattr(waking, "_send", lambda task, what, **_: bool(sent.append((task, what))) or True)
    return sent


@pytest.fixture
def nowhere(db: None) -> Environment:
    """An environment whose image nobody needs."""
    return Environment.objects.create(name="plain", image_digest="sha256:0", built_at=timezone.now())


@pytest.fixture
def environment(db: None, plain: BuiltImage) -> Iterator[Environment]:
    """The plain environment, and a process that has only now begun."""
    before, boxes._process = boxes._process, boxes._Process()
    yield Environment.objects.create(name="plain", image_digest=plain.digest, built_at=timezone.now())
    keepers = [each.keeper for each in (boxes._process.lines, boxes._process.sandbox) if each is not None]
    boxes.close()
    assert [boxes.engine().boxes(keeper) for keeper in keepers] == [[] for _ in keepers]
    boxes._process = before


def ids(executions: list[Execution]) -> list[int]:
    return [execution.pk for execution in executions]


def states() -> list[tuple[str, str]]:
    return list(Execution.objects.order_by("pk").values_list("state", "outcome"))


def test_a_run_is_sent_in_batches(
    nowhere: Environment, sent: list[tuple[str, object]], django_capture_on_commit_callbacks
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        made = bulk.enqueue_many([job()] * 250, environment=nowhere, scope="run-1")
    assert [len(what) for _, what in sent] == [100, 100, 50]  # type: ignore[arg-type]
    assert {task for task, _ in sent} == {waking.BATCH_TASK}
    assert Execution.objects.filter(queue="bulk", scope="run-1", state="queued").count() == len(made) == 250


def test_forgotten_samples_are_woken_by_the_batch(
    nowhere: Environment, sent: list[tuple[str, object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    one = bulk.enqueue_many([job()] * 120, environment=nowhere, scope="run-1")
    two = bulk.enqueue_many([job()] * 3, environment=nowhere, scope="run-2")
    Execution.objects.update(created_at=timezone.now() - timezone.timedelta(minutes=1))
    monkeypatch.setattr(reconcile, "waiting_messages", lambda queue: 0)
    assert reconcile.wake_forgotten() == 3
    assert [what for _, what in sent] == [ids(one)[:100], ids(one)[100:], ids(two)]
    sent.clear()
    monkeypatch.setattr(reconcile, "waiting_messages", lambda queue: 3)
    assert reconcile.wake_forgotten() == 0
    assert sent == []


def test_only_samples_that_are_due_are_claimed(nowhere: Environment) -> None:
    due, gone = bulk.enqueue_many([job()] * 2, environment=nowhere, scope="run-1")
    alone = Execution.objects.create(environment=nowhere, queue="bulk", job_data=job().as_json())
    assert ids(claims.take_many([gone.pk])) == [gone.pk]
    assert ids(claims.take_many([due.pk, gone.pk, alone.pk])) == [due.pk]
    assert claims.take_many([due.pk, gone.pk, alone.pk]) == []


@pytest.mark.parametrize(
    ("fault", "state", "tries"),
    [
        (SandboxUnavailable("The engine answered: no."), "queued", 1),
        (HostUnfit("No engine can be reached."), "queued", 0),
        (RuntimeError("A mistake of ours."), "queued", 1),
        (boxes.Closing(), "queued", 0),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else str(value),
)
def test_what_has_no_outcome_is_put_back(
    fault: Exception, state: str, tries: int, nowhere: Environment, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = bulk.enqueue_many([job()] * 3, environment=nowhere, scope="run-1")

    def fails(image: str) -> tuple[str, ...]:
        raise fault

    monkeypatch.setattr(modes, "chain", fails)
    monkeypatch.setattr(bulk.obstacles, "note", lambda unfit: None)
    assert bulk.execute_batch(ids(made)) == 3
    assert set(Execution.objects.values_list("state", "tries", "claim")) == {(state, tries, "")}


@pytest.mark.docker
def test_a_batch_comes_to_what_single_executions_come_to(environment: Environment) -> None:
    place = TESTS.index("2\n")
    canary = Canary("test_f", 1, 2, "tests", place, place + 1, "77")
    jobs = [
        job(),
        job(WRONG),
        job("1 / 0\n"),
        job("def f(x):\n    import os; os._exit(0)\n"),
        job(canaries=(canary,)),
        job(canaries=(replace(canary, text="2"),)),  # wrong for nobody, so whoever passes it is flagged
        job(OWN_EQUALITY),
        job("def f(x):\n    open('/proc/self/status').close()\n    return x + 1\n"),
        job("def f(x):\n    open('/pr' + 'oc/self/status').close()\n    return x + 1\n"),
        job("def f(x):\n    open('/etc/f', 'w')\n"),
        job("def f(x):\n    while True: pass\n", Limits(0.3, 60)),
        job("def f(x):\n    import time; time.sleep(9)\n", Limits(5, 0.3)),
    ]
    together = bulk.enqueue_many(jobs, environment=environment, scope="run-1")
    assert bulk.execute_batch(ids(together)) == len(jobs)
    assert bulk.execute_batch(ids(together)) == 0
    for number, (given, forked) in enumerate(zip(jobs, together, strict=True)):
        alone = Execution.objects.create(environment=environment, queue="bulk", job_data=given.as_json())
        execution.execute(alone.pk)
        assert comparable(forked) == comparable(alone), number
    tampered = Execution.objects.filter(tampered=True).order_by("pk")
    assert tampered.count() == 2
    assert tampered[0].pk == together[5].pk
    assert Execution.objects.get(pk=together[6].pk).facts["compared"] == "inside"
    used = [Execution.objects.get(pk=each.pk).facts["mode"] for each in together]
    best = modes.chain(environment.image_digest)[0]
    assert used == [best] * 7 + ["single"] * 2 + [best] * 2 + ["single"]
    assert {"image", "seed", "limits", "host", "engine", "kernel", "mode"} <= set(
        Execution.objects.get(pk=together[0].pk).facts
    )


def comparable(execution: Execution) -> list[object]:
    """What two paths must agree in: all but clocks, counters and where it ran."""
    execution.refresh_from_db()
    facts = {key: execution.facts.get(key) for key in ("compared", "seed", "limits", "image")}
    canary = execution.facts.get("canary", {}).get("outcome")
    rows = TestRow.objects.filter(execution=execution)
    return [
        *(execution.state, execution.outcome, execution.tampered, execution.exit_status, execution.signal),
        *(execution.stdout, execution.stderr, execution.load_error, execution.tries, facts, canary),
        list(rows.values_list("number", "test", "assertion", "outcome", "line", "message", "values")),
    ]


@pytest.mark.docker
def test_a_claim_that_is_lost_meanwhile_changes_nothing(
    environment: Environment, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = bulk.enqueue_many([job()] * 3, environment=environment, scope="run-1")
    original = Line.run

    def run(line: Line, jobs: list[Job]) -> Iterator[Ran | None]:
        Execution.objects.filter(pk=made[1].pk).update(claim="somebody-else")
        yield from original(line, jobs)

    monkeypatch.setattr(Line, "run", run)
    bulk.execute_batch(ids(made))
    assert states() == [("finished", "PASSED"), ("running", ""), ("finished", "PASSED")]
    assert TestRow.objects.filter(execution=made[1]).count() == 0


@pytest.mark.docker
def test_a_worker_that_is_stopped_keeps_what_has_ended_and_returns_the_rest(
    environment: Environment, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = bulk.enqueue_many([job()] * 5, environment=environment, scope="run-1")
    original, ended = Line.run, []

    def run(line: Line, jobs: list[Job]) -> Iterator[Ran | None]:
        for ran in original(line, jobs):
            ended.extend([ran] if ran else [])
            if len(ended) == 2:
                boxes._process.closing.set()
            yield ran

    monkeypatch.setattr(Line, "run", run)
    bulk.execute_batch(ids(made))
    assert sorted(states()) == [("finished", "PASSED")] * 2 + [("queued", "")] * 3
    assert set(Execution.objects.filter(state="queued").values_list("tries", flat=True)) == {0}


@pytest.mark.docker
@pytest.mark.parametrize(
    ("wanted", "used"), [("single", "single"), ("zygote-userns", None), ("zygote", None)]
)
def test_the_setting_says_how_samples_are_kept_apart(
    wanted: str, used: str | None, environment: Environment, settings
) -> None:
    settings.RUNNER_BULK_MODE = wanted
    chain = modes.chain(environment.image_digest)
    assert chain == modes.MODES[modes.MODES.index(wanted) :]
    (made,) = bulk.enqueue_many([job()], environment=environment, scope="run-1")
    bulk.execute_batch([made.pk])
    made.refresh_from_db()
    assert (made.outcome, made.facts["mode"]) == ("PASSED", used or wanted)


def test_a_mode_that_does_not_hold_gives_way_to_the_next(monkeypatch: pytest.MonkeyPatch, settings) -> None:
    settings.RUNNER_BULK_MODE = "auto"
    modes.forget()
    shown = {"zygote": "This kernel cannot confine samples.", "zygote-userns": "yes"}
    monkeypatch.setattr(modes, "tried", lambda engine, mode, image: shown[mode])
    assert modes.chain("sha256:0") == ("zygote-userns", "single")
    assert modes.known() == {"single": "yes", **shown}
    modes.forget()
    shown["zygote-userns"] = "Operation not permitted"
    assert modes.chain("sha256:0") == ("single",)
    modes.forget()
