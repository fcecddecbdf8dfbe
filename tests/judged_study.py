"""A study of three annotators over demo examples, from the invitation to decisions, through the pages and real boxes.

What a browser would do is done by Django's client; workers are this process, which executes whatever is due.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.demo import RECORDS
from annotation.fairness.findings import Finding
from annotation.fairness.report import report
from annotation.models import Attempt, Fix, Study, User
from annotation.protocols import new_study
from annotation.solutions import Recorded, recorded
from annotation.studies import add_versions, choose, open_study
from examples.checking.repeating import due_repeats, run_repeats
from examples.checking.run import check_version, request_checks
from examples.editing import edit_of
from examples.importing.detect import read
from examples.importing.store import store
from examples.models import Example, ImportReport, Version
from runner.execution import execute
from runner.models import Execution
from tests.three_solvers import ANSWERS, FAIR, Answer

PASSWORD = "correct horse battery"
# A test that wants four draws to differ passes once in five; after so many tries in vain something else is wrong.
MOST_TRIES = 60
FLAKE = "draw_winners"


def signed_in(user: User) -> Client:
    """Return a browser of somebody."""
    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


def sent(client: Client, address: str, form: dict[str, Any] | None = None) -> Any:
    """Return the answer to a form, which must be taken: a refusal is shown in full."""
    answer = client.post(address, form or {})
    assert answer.status_code < 400, f"{address}: {answer.status_code} {said_by(answer)}"
    return answer


def said_by(answer: Any) -> list[str]:
    """Return what a page says of a form that it did not take."""
    errors = re.findall(
        r'<p class="err">.*?</p>|<div class="note bad".*?</div>', answer.content.decode(), re.S
    )
    return [re.sub(r"<[^>]*>", " ", each).strip() for each in errors]


def written_by(version: Version, number: int) -> Recorded:
    """Return what one of the three wrote, as it was recorded."""
    function = ANSWERS[version.example.key][number].function.strip()
    return next(each for each in recorded(version) if each.function.strip() == function)


def import_examples(keys: Sequence[str]) -> dict[str, Version]:
    """IMPORT these of the demo's examples, by nobody who could not judge them then; return their versions by key."""
    made = ImportReport.objects.create(dataset_name="demo", file_name=RECORDS.name)
    with RECORDS.open("rb") as stream:
        store([record for record in read(stream) if record.key in keys], made)
    assert (made.added, made.problem_count) == (len(keys), 0)
    return {each.example.key: each for each in Version.objects.select_related("example__dataset")}


def check(versions: dict[str, Version], *, at_once: int) -> None:
    """CHECK the versions. Of the flaky one, one repeat is made, until it passes: a flake that the checks have missed."""
    others = [each.pk for key, each in versions.items() if key != FLAKE]
    spread(check_version, others, at_once=at_once)
    if flaky := versions.get(FLAKE):
        for _ in range(MOST_TRIES):
            request_checks([flaky.pk])
            if check_version(flaky.pk, seeds=(1,)) == Version.CheckState.PASSED:
                break
    for each in versions.values():
        each.refresh_from_db()
        assert each.check_state == Version.CheckState.PASSED, (each, each.failed_checks)


def spread(call: Callable[[int], Any], ids: Sequence[int], *, at_once: int) -> None:
    """Call for each id, `at_once` at a time."""

    def closing(pk: int) -> None:
        try:
            call(pk)
        finally:
            connection.close()

    if at_once == 1:
        for pk in ids:
            call(pk)
        return
    with ThreadPoolExecutor(at_once) as pool:
        list(pool.map(closing, ids))


def work_off(*, at_once: int) -> int:
    """EXECUTE all that is due, as workers would, and return how many that were."""
    done = 0
    while due := list(Execution.objects.due().order_by("pk").values_list("pk", flat=True)):
        spread(execute, due, at_once=at_once)
        done += len(due)
    for pk in due_repeats(at_most=10):
        assert run_repeats(pk)
    return done


def invited(curator: Client, number: int, study: Study) -> tuple[User, Client]:
    """Return an annotator who was invited to the study on the page, and followed the link."""
    shown = sent(
        curator, reverse("invitations"), {"role": "annotator", "study": study.pk, "note": "a solver"}
    )
    (link,) = re.findall(r"/join/[^/\"<\s]+/", shown.content.decode())[:1]
    client, name = Client(), f"solver{number}"
    sent(client, link, {"username": name, "password1": PASSWORD, "password2": PASSWORD})
    return User.objects.get(username=name), client


def open_a_study(versions: dict[str, Version], *, by: User) -> Study:
    """STUDY: three solvers for each version, one submission, in force once somebody has joined."""
    study = new_study(name="fair", title="Are they fair?", by=by, solvers=3, submissions=1)
    chosen = choose(Example.objects.filter(pk__in=[each.example_id for each in versions.values()]))
    assert chosen.refused == {}
    add_versions(study, chosen, by=by)
    return study


def solve_all(client: Client, person: User, study: Study, number: int, *, at_once: int) -> None:
    """ATTEMPT and VERDICT: take example after example until there is none, send the answer, say how it went."""
    while True:
        taken = client.post(reverse("next_example", args=[study.name]))
        found = re.fullmatch(r"/attempts/(\d+)/", taken.headers.get("Location", ""))
        if not found:
            return
        attempt = Attempt.objects.select_related("slot__version__example").get(pk=int(found[1]))
        answer = ANSWERS[attempt.slot.version.example.key][number]
        code = {"function": answer.function, "module": answer.module, "key": "s", "base_revision": "0"}
        sent(client, reverse("submit", args=[attempt.pk]), code)
        work_off(at_once=at_once)
        sent(client, reverse("verdict", args=[attempt.pk]), verdict_of(attempt, answer))
        attempt.refresh_from_db()
        assert attempt.state == Attempt.State.CLOSED, attempt.slot.version.example.key


def verdict_of(attempt: Attempt, answer: Answer) -> dict[str, Any]:
    """Return the closing form: solved where it passed, whatever else was prepared; else what was prepared, or gave up."""
    passed = any(run.passed for run in attempt.runs.select_related("execution", "ruling"))
    form = {"difficulty": "requires effort", **FAIR, "outcome": "solved" if passed else "gave_up"}
    if passed:
        return form | {name: said for name, said in answer.said.items() if name.startswith("instruction")}
    return form | answer.said


def findings(study: Study, key: str) -> dict[str, Finding]:
    """Return what the report of the study finds of an example, by flaw."""
    label = Version.objects.filter(example__key=key).earliest("number").example.label
    return {
        str(finding.flaw): finding
        for each in report(study).versions
        if each.subject.label.startswith(label)
        for answered in each.answers
        for finding in answered.findings
    }


def try_fix(curator: Client, version: Version, note: str, **changed: str) -> Fix:
    """Try a fix on the page of the case."""
    edit = edit_of(version)
    form = {
        name: changed.get(name, getattr(edit, name))
        for name in ("instruction", "context", "reference", "tests", "block", "visible")
    }
    form |= {"environment": edit.environment.pk, "base": version.pk, "note": note, "action": "try"}
    answer = sent(curator, reverse("fix_new", args=[version.pk]), form)
    return Fix.objects.get(pk=int(answer.headers["Location"].rstrip("/").rpartition("/")[2]))


def now_open(study: Study, *, by: User) -> None:
    """Open the study."""
    open_study(study, by=by, now=timezone.now())
