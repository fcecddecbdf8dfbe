"""Rows for tests: a version that passed its checks, a study over versions, an attempt with its verdict."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from annotation.models import Attempt, Beat, Protocol, Run, Slot, Study, StudyPerson, User, Verdict
from examples.importing.base import Record, content_hash, segments_as_json
from examples.models import Check, Dataset, Example, Version
from runner.models import Environment, Execution
from runner.outcome import Outcome
from runner.sandbox.base import Job, Limits

IMAGE = "sha256:" + "41ce" * 16
HASHED = ("instruction", "context", "gap", "reference", "segments", "block", "expected", "visible")
RULES = {field.name for field in Protocol._meta.fields} - {"id", "study", "created_by", "created_at"}
CHECKS = ("reference", "empty_body", "tests_ran", "stable", "network", "environment", "licence")


def make_environment(name: str = "plain", *, digest: str = IMAGE) -> Environment:
    """Return the environment of that name, built as `digest` ("" leaves it unbuilt)."""
    built = timezone.now() if digest else None
    environment, _ = Environment.objects.get_or_create(
        name=name, defaults={"image_digest": digest, "built_at": built, "language_version": "3.13"}
    )
    return environment


def make_version(
    key: str = "add",
    *,
    dataset: str = "demo",
    repository: str = "",
    licence: str = "MIT",
    checked: bool = True,
    environment: Environment | None = None,
    **fields: Any,
) -> Version:
    """Return the first, current version of a new example `add(a, b)`, with every check passed unless told otherwise."""
    room, _ = Dataset.objects.get_or_create(name=dataset, defaults={"title": dataset, "licence": licence})
    example = Example.objects.create(
        dataset=room, key=key, title=f"{key}(a, b)", repository=repository, status=Example.Status.ACCEPTED
    )
    content = {
        "instruction": f"Add two numbers ({key}).",
        "focal_name": "add",
        "context": "def add(a, b):\n    \n\n\n",
        "gap": 19,
        "reference": "return a + b",
        "segments": [
            {
                "offset": 22,
                "text": "def test_add():\n    assert add(1, 2) == 3\n",
                "kind": "function",
                "name": "test_add",
            }
        ],
        "expected": ["test_add"],
        "visible": 1,
        **fields,
    }
    version = Version.objects.create(
        example=example,
        number=1,
        environment=environment or make_environment(),
        content_hash=content_hash(
            language="python", **{"block": "", **{name: content[name] for name in HASHED if name in content}}
        ),
        check_state=Version.CheckState.PASSED if checked else Version.CheckState.PENDING,
        **content,
    )
    example.current = version
    example.save(update_fields=["current"])
    if checked:
        make_checks(version)
    return version


def columns_of(record: Record) -> dict[str, Any]:
    """Return the columns of the version that a record becomes."""
    names = ("language", "instruction", "focal_name", "context", "gap", "reference", "block", "visible")
    columns = {name: getattr(record, name) for name in names}
    return columns | {"segments": segments_as_json(record.tests), "expected": list(record.expected)}


def make_checks(version: Version, **failed: str) -> None:
    """Add all seven checks, passed but those named, which failed with the given finding."""
    evidence = {
        "reference": {"passed": 5, "of": 5},
        "environment": {"digest": version.environment.image_digest},
    }
    for name in CHECKS:
        state = Check.State.FAILED if name in failed else Check.State.PASSED
        finding = failed.get(name, f"{name} as it should be")
        Check.objects.create(
            version=version, name=name, state=state, finding=finding, evidence=evidence.get(name, {})
        )


def make_study(
    name: str = "s-01", *, versions: list[Version], people: list[User], solvers: int = 2, **fields: Any
) -> Study:
    """Return an open study over the versions, with k = `solvers` free slots each; `fields` are its own or its protocol's."""
    fields = {"title": name.upper(), "opened_at": timezone.now(), "state": Study.State.OPEN, **fields}
    study = study_with_protocol(name=name, solvers=solvers, **fields)
    StudyPerson.objects.bulk_create([StudyPerson(study=study, person=person) for person in people])
    Slot.objects.bulk_create(
        [
            Slot(study=study, version=version, number=number)
            for version in versions
            for number in range(1, solvers + 1)
        ]
    )
    return study


def study_with_protocol(**fields: Any) -> Study:
    """Return a study and its protocol 1, frozen when the study opened; each field goes where it belongs."""
    rules = {name: fields.pop(name) for name in RULES if name in fields}
    study = Study.objects.create(**fields)
    Protocol.objects.create(study=study, frozen_at=study.opened_at, **rules)
    return study


def make_attempt(
    study: Study,
    version: Version,
    annotator: User,
    *,
    solved: bool = True,
    outcome: str = "",
    difficulty: str = "requires effort",
    instruction_quality: int = 0,
    test_quality: int = 0,
    seconds: float = 300,
    started_at: datetime | None = None,
) -> Attempt:
    """Return a closed attempt in the version's next free slot: one submission, a verdict, `seconds` from start to end."""
    start = started_at or timezone.now() - timedelta(seconds=seconds)
    slot = Slot.objects.filter(study=study, version=version, state=Slot.State.FREE).order_by("number")[0]
    slot.state, slot.annotator, slot.taken_at = Slot.State.CLOSED, annotator, start
    slot.save(update_fields=["state", "annotator", "taken_at"])
    attempt = Attempt.objects.create(
        slot=slot,
        annotator=annotator,
        protocol=study.protocol,
        state=Attempt.State.CLOSED,
        started_at=start,
        ended_at=start + timedelta(seconds=seconds),
    )
    make_submission(attempt, passed=solved)
    Verdict.objects.create(
        attempt=attempt,
        outcome=outcome or (Verdict.Outcome.SOLVED if solved else Verdict.Outcome.GAVE_UP),
        solved=solved,
        difficulty=difficulty,
        instruction_quality=instruction_quality,
        test_quality=test_quality,
    )
    return attempt


def make_submission(attempt: Attempt, *, passed: bool, number: int = 1) -> Run:
    """Return a submission of the attempt with its finished execution."""
    job = Job(program="pass", tests="", expected=(), limits=Limits.for_cpu(1))
    execution = Execution.objects.create(
        queue=Execution.Queue.INTERACTIVE,
        environment=attempt.slot.version.environment,
        job_data=job.as_json(),
        state=Execution.State.FINISHED,
        outcome=Outcome.PASSED if passed else Outcome.FAILED,
        created_at=attempt.started_at,
        finished_at=attempt.started_at + timedelta(seconds=1),
    )
    return Run.objects.create(
        attempt=attempt,
        kind=Run.Kind.SUBMISSION,
        number=number,
        key=f"{attempt.pk}-{number}",
        function="return a + b",
        sha256="0" * 64,
        execution=execution,
    )


def make_beats(attempt: Attempt) -> None:
    """Add a beat every 15 s from start to end, of somebody who types all the time."""
    assert attempt.ended_at is not None
    seconds = int((attempt.ended_at - attempt.started_at).total_seconds())
    Beat.objects.bulk_create(
        [
            Beat(
                attempt=attempt,
                at=attempt.started_at + timedelta(seconds=second),
                tab="t",
                visible=True,
                ms_since_input=1000,
            )
            for second in range(0, seconds + 1, 15)
        ]
    )
