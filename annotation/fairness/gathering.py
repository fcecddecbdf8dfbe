"""FAIRNESS: the rows of versions from the database, in a number of queries that does not grow with what is in it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from django.db.models import QuerySet

from annotation.fairness.rows import Failure, Grade, Ran, Solution, Subject, Word
from annotation.models import COUNTED, Assessment, Run, Trial, Verdict
from annotation.solutions import TEXTS, counted, runs_at
from annotation.withdrawing import asked_to_be_left_out
from examples.models import Alternative, AlternativeRun, Check, Version
from runner.models import Execution, TestRow
from runner.outcome import Outcome

AT_ONCE = 5000
REFERENCE = ""


def subjects(versions: QuerySet[Version]) -> list[Subject]:
    """Return everything that fairness is found from, a subject for each version, by example.

    Solutions are those of attempts at the version in whatever study, those executed against it, and the accepted
    alternatives of its example; who wrote one for another version of the example is named as well. Who asked to be left
    out of a study's figures is not named here either.
    """
    ids = versions.order_by().values("pk")
    chosen = list(versions.select_related("example").defer(*TEXTS).order_by("example_id", "number"))
    ran: dict[int, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    people: dict[int, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    _add_runs(ran, people, Version.objects.filter(example__versions__in=ids).distinct(), chosen)
    _add_trials(ran, ids)
    _add_reference(ran, ids)
    accepted = _add_alternatives(ran, ids, chosen)
    words, grades = _words(ids), _grades(ids)
    done = rans(pk for by_hash in ran.values() for pks in by_hash.values() for pk in pks)
    return [
        Subject(
            version_id=version.pk,
            example_id=version.example_id,
            label=f"{version.example.label} v{version.number}",
            title=version.example.title,
            tests=tuple(version.expected),
            solutions=tuple(
                Solution(
                    sha256=sha256,
                    people=tuple(people[version.example_id].get(sha256, ())),
                    word=words.get((version.pk, sha256), Word.NONE),
                    accepted=sha256 in accepted[version.pk],
                    ran=tuple(done[pk] for pk in dict.fromkeys(pks) if pk in done),
                )
                for sha256, pks in {REFERENCE: [], **ran[version.pk]}.items()
            ),
            grades=tuple(grades[version.pk]),
        )
        for version in chosen
    ]


Executed = dict[int, dict[str, list[int]]]
People = dict[int, dict[str, list[str]]]


def rans(executions: Iterable[int]) -> dict[int, Ran]:
    """Return the executions with their tests and what failed in them, by id, in two queries for each 5,000."""
    ids = sorted(set(executions))
    found: dict[int, Ran] = {}
    for start in range(0, len(ids), AT_ONCE):
        found |= _rans(ids[start : start + AT_ONCE])
    return found


def _rans(ids: list[int]) -> dict[int, Ran]:
    tests: dict[int, dict[str, str]] = defaultdict(dict)
    failures: dict[int, list[Failure]] = defaultdict(list)
    rows = TestRow.objects.filter(execution__in=ids).order_by("execution", "number")
    for execution, test, assertion, outcome, line, message, values in rows.values_list(
        "execution_id", "test", "assertion", "outcome", "line", "message", "values"
    ):
        if assertion is None:
            tests[execution][test] = outcome
        if outcome not in (Outcome.PASSED, Outcome.NOT_RUN):
            failures[execution].append(Failure(test, assertion, line, tuple(values), message))
    columns = ("pk", "state", "outcome", "job_data__revealed", "facts__image")
    return {
        pk: Ran(pk, state, outcome, tests[pk], tuple(failures[pk]), bool(revealed), image or "")
        for pk, state, outcome, revealed, image in Execution.objects.filter(pk__in=ids).values_list(*columns)
    }


def _add_runs(ran: Executed, people: People, versions: QuerySet[Version], chosen: Iterable[Version]) -> None:
    """Add who wrote what for any version of the examples, and the executions of submissions to the chosen ones."""
    here = {version.pk for version in chosen}
    left_out = asked_to_be_left_out(study="attempt__slot__study", person="attempt__annotator")
    runs = runs_at(versions).filter(~left_out).defer("function", "module", "snippet", "warnings")
    for run in counted(runs):
        version = run.attempt.slot.version_id
        names = people[run.attempt.slot.version.example_id][run.sha256]
        if run.attempt.annotator.pseudonym not in names:
            names.append(run.attempt.annotator.pseudonym)
        if version not in here:
            continue
        executions = ran[version][run.sha256]  # one that was never executed in full is a row as well
        if run.kind == Run.Kind.SUBMISSION and (run.passed or not run.execution.tampered):
            executions.append(run.execution_id)


def _add_trials(ran: Executed, ids: Any) -> None:
    """Add what was executed for the versions, and for the fixes that became them."""
    own = Trial.objects.filter(version__in=ids, fix=None).values_list("version_id", "sha256", "execution_id")
    became = Trial.objects.filter(fix__made__in=ids).values_list("fix__made_id", "sha256", "execution_id")
    for version, sha256, execution in [*own.order_by("pk"), *became.order_by("pk")]:
        ran[version][sha256].append(execution)


def _add_reference(ran: Executed, ids: Any) -> None:
    """Add the executions of references that checks rest on."""
    rows = Check.objects.filter(
        version__in=ids, name__in=["reference", "stable"], executions__isnull=False
    ).values_list("version_id", "executions")
    for version, execution in rows.order_by("executions"):
        ran[version][REFERENCE].append(execution)


def _add_alternatives(ran: Executed, ids: Any, chosen: Iterable[Version]) -> Mapping[int, set[str]]:
    """Add the accepted alternatives, and return the hashes of each version's."""
    accepted: dict[int, set[str]] = defaultdict(set)
    standing = Alternative.objects.standing().filter(example__versions__in=ids).distinct()
    by_example: dict[int, list[str]] = defaultdict(list)
    for example, sha256 in standing.values_list("example_id", "sha256"):
        by_example[example].append(sha256)
    for version in chosen:
        for sha256 in by_example[version.example_id]:
            accepted[version.pk].add(sha256)
            ran[version.pk].setdefault(sha256, [])
    rows = AlternativeRun.objects.filter(version__in=ids, alternative__withdrawn_at=None)
    for version_id, sha256, execution in rows.order_by("pk").values_list(
        "version_id", "alternative__sha256", "execution_id"
    ):
        ran[version_id][sha256].append(execution)
    return accepted


def _words(ids: Any) -> dict[tuple[int, str], Word]:
    """Return the latest word of a curator on each solution."""
    rows = Assessment.objects.filter(version__in=ids).order_by("pk")
    return {
        (version, sha256): Word.RIGHT if right else Word.WRONG
        for version, sha256, right in rows.values_list("version_id", "sha256", "right")
    }


def _grades(ids: Any) -> Mapping[int, list[Grade]]:
    grades: dict[int, list[Grade]] = defaultdict(list)
    left_out = asked_to_be_left_out(study="attempt__slot__study", person="attempt__annotator")
    rows = Verdict.objects.filter(
        ~left_out, attempt__slot__version__in=ids, attempt__slot__kind__in=COUNTED
    ).order_by("pk")
    for version, pseudonym, outcome, instruction, tests in rows.values_list(
        "attempt__slot__version_id",
        "attempt__annotator__pseudonym",
        "outcome",
        "instruction_quality",
        "test_quality",
    ):
        grades[version].append(Grade(pseudonym, outcome, instruction, tests))
    return grades
