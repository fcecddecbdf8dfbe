"""The pages of generation: who sees them, a run from a form, a fragment edited, accepted and rejected."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from annotation.models import User
from examples.generation.claims import take
from examples.generation.deciding import TextRefused, reject_fragment
from examples.generation.fragments.reading import read_text
from examples.generation.fragments.runs import plain_run
from examples.generation.fragments.screening import Wanted
from examples.generation.fragments.taking import take_fragments
from examples.generation.tracing import shown_rounds
from examples.models import AuditEntry, Example, Fragment, GenerationRun, Round, Step
from examples.views import generation_new
from runner.models import Environment, Execution
from runner.outcome import Outcome
from runner.sandbox.base import Job, Limits
from tests.factories import make_environment

CODE = 'def double(n):\n    """Give twice as much.\n\n    >>> double(2)\n    4\n    """\n    return n * 2\n'
TESTS = "def test_double():\n    assert double(2) == 4\n"
PROGRAM = 'def double(n):\n    """Give twice as much."""\n    return n * 2\n'


@pytest.fixture
def desk(client: Client, curator: User) -> Client:
    """A browser with a curator signed in."""
    make_environment()
    client.force_login(curator)
    return client


def made(name: str = "r1", **changes: Any) -> Fragment:
    """Return a fragment of a run without a model, in the state wanted."""
    make_environment()
    run = plain_run(name, dataset="made")
    take_fragments(run, [read_text(CODE, path="pasted.py", licence="MIT")], Wanted())
    fragment = run.fragments.get()
    Fragment.objects.filter(pk=fragment.pk).update(**changes)
    fragment.refresh_from_db()
    return fragment


def held(fragment: Fragment) -> Fragment:
    """Let the fragment have the rounds of one that held, and await a curator."""
    job = Job(program=PROGRAM, tests=TESTS, expected=("test_double",), limits=Limits.for_cpu(1))
    run = Execution.objects.create(
        queue="bulk",
        environment=Environment.objects.get(name="plain"),
        job_data=job.as_json(),
        state="finished",
        outcome=Outcome.PASSED,
    )
    for number, (step, subject, text, execution) in enumerate(
        (
            (Step.STANDALONE, "program", PROGRAM, None),
            (Step.WRITE_TESTS, "tests", TESTS, run),
            (Step.ACCEPTANCE, "instruction", "Functionality: Give twice as much.\n", None),
        ),
        start=1,
    ):
        Round.objects.create(
            fragment=fragment,
            number=number,
            step=step,
            subject=subject,
            text=text,
            execution=execution,
            note="made",
        )
    Fragment.objects.filter(pk=fragment.pk).update(state="ready")
    fragment.refresh_from_db()
    return fragment


def form(**values: Any) -> dict[str, Any]:
    environment = Environment.objects.get(name="plain").pk
    return {
        "name": "r1",
        "dataset": "made",
        "path": "plain",
        "rounds": 3,
        "environment": environment,
        **values,
    }


def test_pasted_code_becomes_a_run_whose_page_names_its_fragments_and_what_was_left_out(desk: Client) -> None:
    answer = desk.post(
        "/generation/new/", form(code=CODE + "\n\ndef bare(x):\n    return x\n", licence="MIT")
    )
    assert answer["Location"] == "/generation/runs/r1/"
    page = desk.get("/generation/runs/r1/").content.decode()
    assert "double" in page
    assert "no doctest" in page
    assert GenerationRun.objects.get().created_by is not None
    assert "every 2s" in page
    report = desk.get("/generation/runs/r1/yield.json").json()
    assert [stage["count"] for stage in report["funnel"]] == [2, 1, 0, 0, 0, 0, 0]
    assert desk.get("/generation/runs/r1/yield.svg")["Content-Type"] == "image/svg+xml"
    assert desk.get("/generation/runs/r1/yield.pdf").status_code == 404
    assert desk.get("/generation/yield.json").json()["yields"][0]["title"] == "without a model"


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({}, "Paste code or choose a file, one of the two."),
        ({"code": CODE, "path": "model"}, "No endpoint is set"),
        ({"file": SimpleUploadedFile("a.zip", b"PK\x03\x04 no zip")}, "The archive cannot be read"),
        ({"code": CODE, "name": "there"}, "There is a run of this name."),
    ],
)
def test_a_form_that_cannot_be_a_run_says_why_and_saves_nothing(
    desk: Client, values: dict[str, Any], said: str
) -> None:
    plain_run("there", dataset="other")
    answer = desk.post("/generation/new/", form(**values))
    assert answer.status_code == 422
    assert said in answer.content.decode()
    assert list(GenerationRun.objects.values_list("name", flat=True)) == ["there"]


def test_a_file_beyond_the_limit_is_refused_before_it_is_read(desk: Client) -> None:
    answer = desk.generic("POST", "/generation/new/", b"x", CONTENT_LENGTH=str(20 << 20))
    assert answer.status_code == 413
    assert "manage.py find_fragments" in answer.content.decode()


def test_a_source_of_too_many_files_is_refused_with_the_command(
    desk: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(generation_new, "MOST_CHARACTERS", 10)
    answer = desk.post("/generation/new/", form(code=CODE))
    assert answer.status_code == 422
    assert "Use manage.py find_fragments" in answer.content.decode()
    assert not GenerationRun.objects.exists()


def test_a_run_without_any_fragment_is_finished_at_once(desk: Client) -> None:
    desk.post("/generation/new/", form(code="def bare(x):\n    return x\n"))
    assert GenerationRun.objects.get().state == "finished"


def test_a_fragment_shows_its_rounds_with_what_each_changed(desk: Client) -> None:
    fragment = held(made())
    page = desk.get(f"/generation/runs/r1/{fragment.number}/").content.decode()
    assert page.index("Standalone") < page.index("Acceptance")
    assert "removed: " in page  # the examples, taken out of the docstring
    assert "awaits a curator" in page
    assert (
        desk.get(f"/generation/runs/r1/{fragment.number}/", headers={"HX-Request": "true"}).status_code == 200
    )
    seen = "ready-3-1"
    answer = desk.get(f"/generation/runs/r1/1/?seen={seen}", headers={"HX-Request": "true"})
    assert answer.status_code == 204


def test_accepting_makes_an_example_in_the_dataset_with_its_licence_and_origin(
    desk: Client, curator: User
) -> None:
    held(made())
    desk.post("/generation/runs/r1/1/accept/")
    example = Example.objects.get()
    assert example.dataset.name == "made"
    assert example.known_licence == "MIT"
    assert example.provenance["run"] == "r1"
    assert example.current is not None
    assert example.current.expected == ["test_double"]
    assert Fragment.objects.get().state == "accepted"
    assert AuditEntry.objects.filter(action="fragment accepted", person=curator).exists()
    page = desk.get("/generation/runs/r1/1/").content.decode()
    assert f"It became {example.label}." in page
    refused = desk.post("/generation/runs/r1/1/reject/", {"reason": "late"}, follow=True).content.decode()
    assert "It is an example now." in refused


def test_only_what_held_can_be_accepted(desk: Client) -> None:
    made()
    assert (
        "Only a fragment that held"
        in desk.post("/generation/runs/r1/1/accept/", follow=True).content.decode()
    )
    assert not Example.objects.exists()


def test_rejecting_asks_for_a_reason_which_the_funnel_counts(desk: Client) -> None:
    held(made())
    assert desk.post("/generation/runs/r1/1/reject/", {"reason": " "}).status_code == 422
    desk.post("/generation/runs/r1/1/reject/", {"reason": "says too little"})
    fragment = Fragment.objects.get()
    assert (fragment.state, fragment.reason_code, fragment.reason) == (
        "rejected",
        "curator",
        "says too little",
    )
    assert desk.get("/generation/runs/r1/yield.json").json()["stops"] == [
        {"code": "curator", "state": "rejected", "count": 1}
    ]
    with pytest.raises(TextRefused, match="Say why"):
        reject_fragment(fragment, reason=" ", by=None)
    desk.post("/generation/runs/r1/1/again/")
    assert Fragment.objects.get().state == "waiting"


def test_an_edit_is_the_next_round_and_the_fragment_goes_on_from_there(desk: Client, curator: User) -> None:
    fragment = held(made())
    GenerationRun.objects.update(state="finished", finished_at=fragment.created_at)
    shown = desk.get("/generation/runs/r1/1/edit/tests/").content.decode()
    assert "assert double(2) == 4" in shown
    desk.post("/generation/runs/r1/1/edit/tests/", {"text": TESTS + "    assert double(0) == 0\n"})
    last = fragment.rounds.last()
    assert last is not None
    assert (last.number, last.step, last.edited_by) == (4, "write_tests", curator)
    fragment.refresh_from_db()
    assert (fragment.state, fragment.run.state) == ("waiting", "running")
    assert [each.before for each in shown_rounds(fragment)] == [CODE, "", "", TESTS]


@pytest.mark.parametrize(
    ("subject", "text", "said"),
    [
        ("tests", "def test_(:\n", "Write Python 3."),
        ("tests", "x = 1\n", "There is no test function."),
        ("program", "def other():\n    return 1\n", "Keep the function double."),
        ("instruction", "  ", "It is empty."),
    ],
)
def test_an_edit_that_cannot_be_is_refused_with_the_remedy(
    desk: Client, subject: str, text: str, said: str
) -> None:
    held(made())
    answer = desk.post(f"/generation/runs/r1/1/edit/{subject}/", {"text": text})
    assert answer.status_code == 422
    assert said in answer.content.decode()
    assert Round.objects.count() == 3


def test_nothing_is_edited_while_a_worker_has_the_fragment(desk: Client) -> None:
    fragment = made()
    assert take(fragment.pk) is not None
    answer = desk.post("/generation/runs/r1/1/edit/program/", {"text": PROGRAM})
    assert answer.status_code == 422
    assert "A worker has the fragment" in answer.content.decode()


def test_a_run_is_stopped_and_resumed(desk: Client) -> None:
    made()
    desk.post("/generation/runs/r1/state/", {"action": "stop"})
    assert GenerationRun.objects.get().state == "stopped"
    desk.post("/generation/runs/r1/state/", {"action": "resume"})
    assert GenerationRun.objects.get().state == "running"


def test_a_package_that_a_reply_asked_for_is_refused_or_becomes_an_environment_of_the_curators_words(
    desk: Client,
) -> None:
    fragment = made()
    wishes = [fragment.wishes.create(package=each, said=f"pip install {each}") for each in ("tax", "vat")]
    assert "tax" in desk.get("/generation/runs/r1/1/").content.decode()
    shown = desk.get(f"/generation/wishes/{wishes[0].pk}/").content.decode()
    assert "pip install tax" in shown
    desk.post(f"/generation/wishes/{wishes[0].pk}/", {"action": "refuse"})
    sent = {"action": "approve", "name": "with-numpy", "python": "3.13", "packages": "numpy==2.4.6"}
    wrong = desk.post(f"/generation/wishes/{wishes[1].pk}/", {**sent, "name": "plain"})
    assert wrong.status_code == 422
    answer = desk.post(f"/generation/wishes/{wishes[1].pk}/", sent)
    assert answer["Location"] == "/examples/environments/with-numpy/"
    states = dict(fragment.wishes.values_list("package", "state"))
    assert states == {"tax": "refused", "vat": "approved"}
    late = desk.post(f"/generation/wishes/{wishes[0].pk}/", {"action": "refuse"}, follow=True)
    assert "Somebody has decided about tax already." in late.content.decode()


def test_lists_take_the_same_queries_however_long_they_are(
    desk: Client, django_assert_num_queries: Any
) -> None:
    held(made())
    text = "".join(
        f'def f{n}(a):\n    """Doc {n} of it.\n\n    >>> f{n}(1)\n    """\n    return a + {n}\n'
        for n in range(30)
    )
    for name in ("r2", "r3"):
        take_fragments(plain_run(name, dataset="made"), [read_text(text, path="a.py")], Wanted())
    desk.get("/generation/")
    with django_assert_num_queries(8):
        desk.get("/generation/")
    for name in ("r1", "r2"):
        with django_assert_num_queries(9):
            desk.get(f"/generation/runs/{name}/")
    with django_assert_num_queries(6):
        assert "page 1 of" not in desk.get("/generation/runs/r2/fragments/?state=waiting").content.decode()
    assert "None of this kind" in desk.get("/generation/runs/r2/fragments/?state=rejected").content.decode()
