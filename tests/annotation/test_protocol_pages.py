"""Pages of a protocol, the calculator, and what annotators read: what they show, refuse and lead to."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.forms.protocol import ProtocolForm
from annotation.models import Protocol, Study, Verdict
from annotation.protocols import propose_change, put_into_force
from tests.annotation.factories import make_study, make_version, posted_protocol
from tests.annotation.test_pages import browser
from tests.factories import make_attempt


@pytest.fixture
def study(ann, ben):
    return make_study(people=[ann, ben], versions=3)


def address(name: str, study: Study) -> str:
    return reverse(name, args=[study.name])


def posted_change(study: Study, **changes: object) -> dict[str, object]:
    """Return what the form of a change sends, as it stands, with changes."""
    form = ProtocolForm(instance=study.protocol, running=True)
    data = {name: form.get_initial_for_field(field, name) for name, field in form.fields.items()} | changes
    return {name: value for name, value in data.items() if value is not None and value is not False}


def test_a_change_is_written_looked_at_and_put_into_force(study, curator):
    client = browser(curator)
    page = address("protocol_change", study)
    assert client.post(page, posted_change(study, submissions=3)).status_code == 422
    assert (
        client.post(page, posted_change(study, submissions=3, reason="slips", solvers=1)).status_code == 422
    )
    preview = client.post(page, posted_change(study, submissions=3, reason="slips", do="preview"))
    assert "You have 3 submissions" in preview.content.decode()
    assert study.protocols.count() == 1
    sent = client.post(page, posted_change(study, submissions=3, reason="slips"))
    assert sent.url == address("study_protocol", study)
    shown = client.get(sent.url).content.decode()
    assert "<ins>3</ins>" in shown
    assert "Put protocol 2 into force" in shown
    assert "You have one submission" in shown  # still in force
    client.post(address("protocol_force", study))
    study.refresh_from_db()
    assert (study.protocol.number, study.protocol.submissions, study.protocol.seed) == (2, 3, 0)
    assert "You have one submission" in client.get(f"{sent.url}?number=1").content.decode()
    assert client.get(f"{sent.url}?number=9").status_code == 404


def test_a_change_can_be_dropped_and_nothing_is_left_of_it(study, curator):
    propose_change(study, {"submissions": 2}, reason="x", by=curator)
    client = browser(curator)
    assert client.post(address("protocol_drop", study)).url == address("study_protocol", study)
    assert (
        "No change is being written"
        in client.post(address("protocol_drop", study), follow=True).content.decode()
    )
    assert study.protocols.count() == 1


def test_each_state_of_a_study_leads_to_the_form_that_fits(study, curator, ann):
    client = browser(curator)
    assert client.get(address("study_edit", study)).url == address("protocol_change", study)
    draft = make_study(people=[ann], versions=0, state="draft")
    assert client.get(address("protocol_change", draft)).url == address("study_edit", draft)
    Study.objects.filter(pk=study.pk).update(state="closed")
    assert client.get(address("protocol_change", study)).url == address("study_protocol", study)
    assert "Write a change" not in client.get(address("study_protocol", study)).content.decode()


def test_a_form_that_was_overtaken_by_the_opening_changes_nothing(curator, ann, monkeypatch):
    draft = make_study(people=[ann], versions=1, state="draft")
    sent = {"title": "T", "name": draft.name, **posted_protocol(submissions=3)}
    Protocol.objects.update(frozen_at=timezone.now())
    answer = browser(curator).post(address("study_edit", draft), sent, follow=True)
    assert "Protocol 1 is frozen" in answer.content.decode()
    draft.refresh_from_db()
    assert (draft.protocol.submissions, draft.title) == (1, "Prices")


def test_annotators_read_what_is_in_force(study, curator, ann):
    propose_change(study, {"arms": ["search"], "guidelines": "Be *quick*."}, reason="x", by=curator)
    page = address("guidelines", study)
    assert "Web search is allowed" not in browser(ann).get(page).content.decode()
    put_into_force(study, by=curator, now=timezone.now())
    shown = browser(ann).get(page).content.decode()
    assert "Web search is allowed" in shown
    assert "<em>quick</em>" in shown


def test_the_page_of_protocols_asks_as_often_for_many_as_for_few(study, curator, django_assert_num_queries):
    client = browser(curator)
    client.get(address("study_protocol", study))
    for at in range(2, 6):
        with django_assert_num_queries(6):
            client.get(address("study_protocol", study))
        propose_change(study, {"submissions": at}, reason="x", by=curator)
        put_into_force(study, by=curator, now=timezone.now())


def test_a_sample_that_cannot_be_drawn_says_why(curator, ann):
    make_version()
    draft = make_study(people=[ann], versions=0, state="draft")
    client = browser(curator)
    page = address("study_versions", draft)
    assert "Say how many to draw" in client.post(page, {"do": "draw"}).content.decode()
    answer = client.post(page, {"do": "draw", "size": 5}, follow=True)
    assert "5 versions cannot be drawn: 1 of those that match are fit" in answer.content.decode()
    assert "1 drawn of 1" in client.post(page, {"do": "draw", "size": 1}, follow=True).content.decode()


def test_the_calculator_answers_refuses_nonsense_and_knows_a_study(study, curator, ann, ben):
    client, page = browser(curator), reverse("calculator")
    needed = client.get(page).context["needed"]
    assert (needed.independent, needed.attempts, needed.people, needed.versions) == (95, 295, 15, 148)
    assert client.get(page, {"share": "120"}).status_code == 422
    assert client.get(page, {"share": "x", "half_width": "0"}).status_code == 422
    assert client.get(page, {"study": "nobody's"}).status_code == 200
    for version in (
        Study.objects.get(pk=study.pk).slots.order_by("version").values_list("version").distinct()[:2]
    ):
        for person, solved in ((ann, True), (ben, False)):
            slot = study.slots.filter(version=version, state="free")[0]
            make_attempt(study, slot.version, person, solved=solved)
    Verdict.objects.update(created_at=timezone.now() - timedelta(minutes=1))
    answer = client.get(page, {"study": study.name})
    found = answer.context["actual"]
    assert (found.solved, found.counted, found.icc.value) == (2, 4, 1.0)
    assert found.forecast.remaining == 2
    assert "At this rate done on" in answer.content.decode()
    assert answer.context["form"]["share"].value() == "50"
    kept = client.get(page, {"study": study.name, "share": "70", "half_width": "5"})
    assert kept.context["form"]["share"].value() == "70"
