"""Every page of this app: owner, stranger, anonymous; nothing hidden on it; query counts of lists pinned."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.assignment import take_slot
from annotation.attempts import close_attempt, give_up
from annotation.drafts import current_draft
from annotation.models import Attempt, Invitation, Study, User
from annotation.runs import run_visible, submit
from config.access import Role
from runner.models import TestRow
from runner.outcome import Outcome
from tests.annotation.factories import (
    RIGHT,
    WRONG,
    finish,
    make_attempt,
    make_study,
    make_version,
    posted_protocol,
)

JSON = {"Accept": "application/json"}
HTMX = {"HX-Request": "true"}
VERDICT = {
    "outcome": "gave_up",
    "difficulty": "trivial",
    "instruction_quality": "0",
    "test_quality": "0",
    "text": "",
    "evidence": "",
}


def browser(person: User) -> Client:
    client = Client()
    client.force_login(person, backend="django.contrib.auth.backends.ModelBackend")
    return client


@pytest.fixture
def attempt(ann: User) -> Attempt:
    return make_attempt(ann)


def code(function: str = WRONG, **more: str) -> dict[str, str]:
    return {"function": function, "module": "", "base_revision": "0", "key": "k1", **more}


GETS = ["workspace", "execution", "verdict"]
POSTS = ["draft", "run", "scratch", "submit", "give_up", "beat", "pause", "resume"]


@pytest.mark.parametrize("name", [*GETS, *POSTS])
def test_an_attempt_is_its_annotators_alone(name, attempt, ben, curator, client):
    path = reverse(name, args=[attempt.pk])
    ask = "get" if name in GETS else "post"
    assert getattr(browser(ben), ask)(path).status_code == 404
    assert getattr(browser(curator), ask)(path).status_code == 404
    assert "/login/" in getattr(client, ask)(path).url
    assert getattr(browser(attempt.annotator), ask)(path, code()).status_code in (200, 302, 422)


@pytest.mark.parametrize("name", ["studies", "study_new", "invitations", "people"])
def test_curating_pages_are_absent_for_annotators(name, ann, client):
    path = reverse(name)
    assert browser(ann).get(path).status_code == 404
    assert "/login/" in client.get(path).url


def test_a_study_is_a_curators_page(ann, curator, client):
    study = make_study(people=[ann])
    path = reverse("study", args=[study.name])
    assert browser(curator).get(path).status_code == 200
    assert browser(ann).get(path).status_code == 404
    assert "/login/" in client.get(path).url


def test_accounts_are_an_admins_page(curator, admin_user):
    assert browser(admin_user).get(reverse("people")).status_code == 200
    assert browser(curator).get(reverse("people")).status_code == 404


@pytest.mark.parametrize(
    ("role", "start"), [("annotator", "/work/"), ("curator", "/studies/"), ("admin", "/studies/")]
)
def test_home_leads_to_where_the_role_works(role, start, db):
    from annotation.accounts import create_account

    person = create_account(username="p", role=Role(role), password=None)
    assert browser(person).get("/").url in (start, "/examples/")


def test_home_says_what_this_is(client, db):
    assert "solve your code benchmark" in client.get("/").content.decode()


def test_the_workspace_shows_the_visible_tests_before_any_run_and_nothing_hidden(attempt):
    page = browser(attempt.annotator).get(reverse("workspace", args=[attempt.pk])).content.decode()
    assert "with_tax(100) == 120.0" in page
    assert "1 of 3 assertions visible" in page
    assert "23.99" not in page
    assert "round(net * (1 + RATE), 2)" not in page


def test_a_study_that_shows_no_tests_shows_none(ann):
    attempt = make_attempt(ann, shows_visible_tests=False)
    page = browser(ann).get(reverse("workspace", args=[attempt.pk])).content.decode()
    assert "120.0" not in page
    assert "Run visible tests" not in page


def test_saving_answers_with_the_revision_and_a_stale_page_with_both_texts(attempt):
    client, path = browser(attempt.annotator), reverse("draft", args=[attempt.pk])
    assert client.post(path, code("one"), headers=JSON).json()["revision"] == 1
    stale = client.post(path, code("two"), headers=JSON)
    assert stale.status_code == 409
    assert (stale.json()["revision"], stale.json()["function"]) == (1, "one")


def test_saving_without_script_works_and_keeps_ones_own_text_in_a_conflict(attempt):
    client, path = browser(attempt.annotator), reverse("draft", args=[attempt.pk])
    assert client.post(path, code("one")).url == reverse("workspace", args=[attempt.pk])
    answer = client.post(path, code("my own text"))
    assert answer.status_code == 409
    assert "my own text" in answer.content.decode()
    assert current_draft(attempt).function == "one"


def test_saving_after_the_end_is_gone(attempt):
    give_up(attempt, reason="no", now=timezone.now())
    answer = browser(attempt.annotator).post(reverse("draft", args=[attempt.pk]), code(), headers=JSON)
    assert answer.status_code == 410


def test_line_breaks_of_a_form_are_plain_again(attempt):
    browser(attempt.annotator).post(reverse("draft", args=[attempt.pk]), code("a\r\nb"))
    assert current_draft(attempt).function == "a\nb"


def test_a_run_by_htmx_answers_with_the_panel_and_keeps_the_draft(attempt):
    answer = browser(attempt.annotator).post(reverse("run", args=[attempt.pk]), code(), headers=HTMX)
    assert answer.content.decode().lstrip().startswith('<div class="stack" id="execution"')
    assert attempt.runs.get().function == current_draft(attempt).function == WRONG


def test_a_run_without_script_leads_back_to_the_page(attempt):
    answer = browser(attempt.annotator).post(reverse("run", args=[attempt.pk]), code())
    assert answer.url == reverse("workspace", args=[attempt.pk])


def test_a_refused_run_is_422_with_the_reason(attempt):
    answer = browser(attempt.annotator).post(
        reverse("scratch", args=[attempt.pk]), code(snippet=""), headers=HTMX
    )
    assert answer.status_code == 422
    assert "Write a line to run first" in answer.content.decode()


def test_a_run_after_the_end_leads_to_the_verdict(attempt):
    give_up(attempt, reason="no", now=timezone.now())
    answer = browser(attempt.annotator).post(reverse("run", args=[attempt.pk]), code(), headers=HTMX)
    assert answer["HX-Redirect"] == reverse("verdict", args=[attempt.pk])


def test_a_submission_shows_outcome_and_counts_and_nothing_that_was_said(attempt):
    run = submit(attempt, function=WRONG, module="", key="s", now=timezone.now())
    TestRow.objects.create(
        execution=run.execution,
        number=1,
        test="test_with_tax",
        outcome="FAILED",
        message="LEAK",
        values=["LEAK"],
    )
    run.execution.stdout = run.execution.stderr = run.execution.load_error = "LEAK"
    run.execution.save()
    finish(run, Outcome.FAILED)
    page = (
        browser(attempt.annotator).get(reverse("execution", args=[attempt.pk]), headers=HTMX).content.decode()
    )
    assert "LEAK" not in page
    assert "0 of 1" in page
    assert run.sha256 in page


def test_a_flagged_submission_could_not_be_confirmed(attempt):
    run = submit(attempt, function=RIGHT, module="", key="s", now=timezone.now())
    finish(run, tampered=True)
    page = (
        browser(attempt.annotator).get(reverse("execution", args=[attempt.pk]), headers=HTMX).content.decode()
    )
    assert "could not be confirmed" in page
    assert "ampered" not in page


def test_a_failed_visible_run_shows_the_values_and_marks_the_editors_line(attempt):
    run = run_visible(attempt, function=WRONG + "boom(\n", module="", key="v", now=timezone.now())
    TestRow.objects.create(
        execution=run.execution,
        number=1,
        test="test_with_tax",
        assertion=1,
        outcome="FAILED",
        line=2,
        values=["100", "120.0"],
    )
    program = run.execution.job.program.splitlines()
    run.execution.stderr = (
        f'Traceback (most recent call last):\n  File "solution.py", line {program.index("    return net") + 1}, '
        "in with_tax\nNameError: name 'x' is not defined\n"
    )
    run.execution.save()
    finish(run, Outcome.FAILED)
    page = (
        browser(attempt.annotator).get(reverse("execution", args=[attempt.pk]), headers=HTMX).content.decode()
    )
    assert "120.0</bdi>" in page
    assert 'data-line="2"' in page
    assert "your solution, line 2" in page


def test_output_of_a_program_is_inert(attempt):
    run = run_visible(attempt, function=WRONG, module="", key="v", now=timezone.now())
    run.execution.stdout = "<script>alert(1)</script>\x1b[2J"
    run.execution.save()
    finish(run)
    page = browser(attempt.annotator).get(reverse("workspace", args=[attempt.pk])).content.decode()
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page


def test_a_beat_answers_with_the_clock(attempt):
    said = {"tab": "t", "visible": "true", "ms_since_input": "12"}
    answer = browser(attempt.annotator).post(reverse("beat", args=[attempt.pk]), said).json()
    assert answer["limit"] == 1800
    assert (answer["state"], answer["held"]) == ("open", True)
    assert attempt.beats.get().ms_since_input == 12


@pytest.mark.parametrize(
    "said", [{}, {"ms_since_input": "x"}, {"ms_since_input": "9" * 30, "tab": "t" * 500}]
)
def test_a_strange_beat_is_no_error(attempt, said):
    assert browser(attempt.annotator).post(reverse("beat", args=[attempt.pk]), said).status_code == 200


def test_pause_and_go_on(attempt):
    client = browser(attempt.annotator)
    client.post(reverse("pause", args=[attempt.pk]))
    assert "Go on" in client.get(reverse("workspace", args=[attempt.pk])).content.decode()
    client.post(reverse("resume", args=[attempt.pk]))
    assert attempt.pauses.get().ended_at is not None


def test_giving_up_without_a_reason_is_422_and_with_one_leads_to_the_verdict(attempt):
    client, path = browser(attempt.annotator), reverse("give_up", args=[attempt.pk])
    assert client.post(path, {"reason": ""}).status_code == 422
    assert client.post(path, {"reason": "no idea"}).url == reverse("verdict", args=[attempt.pk])


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"outcome": "solved"}, "outcome"),
        ({"outcome": "tests_wrong"}, "evidence"),
        ({"outcome": "underspecified"}, "evidence"),
        ({"instruction_quality": "2"}, "instruction_note"),
        ({"test_quality": "3"}, "test_note"),
        ({"test_quality": "4"}, "test_quality"),
        ({"difficulty": "so so"}, "difficulty"),
    ],
)
def test_a_verdict_that_lacks_something_is_422(attempt, change, field):
    give_up(attempt, reason="no", now=timezone.now())
    answer = browser(attempt.annotator).post(reverse("verdict", args=[attempt.pk]), VERDICT | change)
    assert answer.status_code == 422
    assert field in answer.context["form"].errors
    attempt.refresh_from_db()
    assert attempt.state == "submitted"


def test_a_verdict_closes_the_attempt_and_leads_to_the_next(attempt):
    give_up(attempt, reason="no", now=timezone.now())
    client, path = browser(attempt.annotator), reverse("verdict", args=[attempt.pk])
    assert client.post(path, VERDICT).url == reverse("work")
    assert "What you said" in client.get(path).content.decode()
    assert client.post(path, VERDICT | {"difficulty": "very hard"}).status_code == 200
    attempt.verdict.refresh_from_db()
    assert attempt.verdict.difficulty == "trivial"


def test_a_verdict_may_lead_straight_to_the_next_example(ann):
    study = make_study(people=[ann], versions=2)
    attempt = take_slot(study, ann, timezone.now())
    give_up(attempt, reason="no", now=timezone.now())
    answer = browser(ann).post(reverse("verdict", args=[attempt.pk]), VERDICT | {"then": "next"})
    assert Attempt.objects.count() == 2
    assert answer.url == reverse("workspace", args=[Attempt.objects.latest("pk").pk])


def test_the_outcome_is_suggested_by_the_facts(attempt):
    finish(submit(attempt, function=RIGHT, module="", key="s", now=timezone.now()))
    page = browser(attempt.annotator).get(reverse("verdict", args=[attempt.pk]))
    assert page.context["form"]["outcome"].value() == "solved"


def test_next_example_leads_to_the_workspace_or_says_why_not(ann, ben):
    study = make_study(people=[ann, ben], solvers=1)
    path = reverse("next_example", args=[study.name])
    assert browser(ann).post(path).url == reverse("workspace", args=[Attempt.objects.get().pk])
    answer = browser(ben).post(path, follow=True).content.decode()
    assert "1 held by others" in answer


def test_a_study_one_does_not_take_part_in_is_absent(ben, ann):
    study = make_study(people=[ann])
    assert browser(ben).post(reverse("next_example", args=[study.name])).status_code == 404
    assert browser(ben).get(reverse("guidelines", args=[study.name])).status_code == 404


def close_some(person: User, number: int) -> None:
    study = make_study(people=[person], versions=number)
    for _ in range(number):
        attempt = take_slot(study, person, timezone.now())
        give_up(attempt, reason="no", now=timezone.now())
        answers = {"outcome": "gave_up", "difficulty": "trivial", "instruction_quality": 0, "test_quality": 0}
        close_attempt(attempt, answers=answers, now=timezone.now())


def test_my_work_asks_as_often_for_many_as_for_few(ann, django_assert_max_num_queries):
    close_some(ann, 2)
    client = browser(ann)
    with django_assert_max_num_queries(15) as few:
        client.get(reverse("work"))
    close_some(ann, 5)
    with django_assert_max_num_queries(len(few) + 6):  # of another study; none for its attempts
        client.get(reverse("work"))


def test_the_list_of_studies_asks_once_for_all(curator, ann, django_assert_num_queries):
    client = browser(curator)
    make_study(people=[ann])
    client.get(reverse("studies"))
    with django_assert_num_queries(5):
        client.get(reverse("studies"))
    for _ in range(4):
        make_study(people=[ann], versions=2)
    with django_assert_num_queries(5):
        client.get(reverse("studies"))


def test_a_study_page_asks_as_often_for_many_versions_as_for_few(
    curator, ann, ben, django_assert_max_num_queries
):
    few, many = make_study(people=[ann]), make_study(people=[ann, ben], versions=30)
    client = browser(curator)
    with django_assert_max_num_queries(21) as asked:
        client.get(reverse("study", args=[few.name]))
    with django_assert_max_num_queries(len(asked)):
        client.get(reverse("study", args=[many.name]))


def test_a_curator_makes_opens_and_closes_a_study(curator, ann):
    client, version = browser(curator), make_version()
    make_version(check_state="failed", failed_checks="reference")
    rules = posted_protocol(active_minutes=20, levels="easy\nhard", guidelines="# Hello", seed=7)
    protocol = {"title": "First", "name": "first", **rules}
    assert client.post(reverse("study_new"), protocol | {"levels": "one"}).status_code == 422
    assert client.post(reverse("study_new"), protocol).url == "/studies/first/"
    counted = client.post("/studies/first/versions/", {"do": "count"}).content.decode()
    assert "1 refused: failed: reference" in " ".join(
        counted.replace("</span>", "").replace('<span class="num">', "").split()
    )
    client.post("/studies/first/versions/", {"do": "add", "labels": version.example.label})
    client.post("/studies/first/people/", {"people": [ann.pk]})
    client.post("/studies/first/state/", {"to": "open"})
    study = Study.objects.get(name="first")
    assert (study.state, study.slots.count(), study.protocol.active_limit_seconds) == ("open", 2, 1200)
    assert study.protocol.difficulty_levels == ["easy", "hard"]
    client.post("/studies/first/solvers/", {"solvers": "3", "reason": "two differ"})
    assert study.slots.count() == 3
    assert client.get("/studies/first/edit/").url == "/studies/first/protocol/change/"
    client.post("/studies/first/state/", {"to": "close"})
    study.refresh_from_db()
    assert study.state == "closed"


def test_an_invitations_link_is_shown_once_and_makes_an_account(curator, client):
    page = browser(curator).post(reverse("invitations"), {"role": "annotator", "study": "", "note": ""})
    link = page.context["link"]
    assert link not in browser(curator).get(reverse("invitations")).content.decode()
    assert client.get(link).status_code == 200
    form = {"username": "newcomer", "password1": "a very new phrase", "password2": "a very new phrase"}
    assert client.post(link, form | {"password2": "another"}).status_code == 422
    assert client.post(link, form).url == "/"
    assert Invitation.objects.get().accepted_by.username == "newcomer"
    assert Client().get(link).status_code == 404
    assert client.get("/work/").status_code == 200


def test_an_admin_makes_an_account_and_sees_its_password_once(admin_user, client):
    page = browser(admin_user).post(reverse("person_new"), {"username": "newcomer", "role": "reader"})
    assert client.login(username="newcomer", password=page.context["secret"])
    assert client.get("/work/").url == reverse("account_change_password")
    assert page.context["secret"] not in browser(admin_user).get(reverse("people")).content.decode()
