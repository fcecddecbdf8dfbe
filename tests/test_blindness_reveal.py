"""What is revealed after closing is shown on one page, to one person: no other page, operation or socket tells it."""

from __future__ import annotations

from asgiref.sync import async_to_sync
from django.urls import reverse
from django.utils import timezone

from annotation.attempts import close_attempt, give_up
from annotation.models import Slot, Study
from annotation.revealing import reveal
from annotation.runs import listener_of
from tests.blindness.rules import RULES
from tests.blindness.world import HIDDEN, REFERENCE, World, client_of, make_world
from tests.test_blindness import everything_in, refused
from tests.test_blindness_sockets import headers_of, heard

SECRET = (REFERENCE, HIDDEN)


def revealed_world() -> World:
    """Return the world once its owner has closed what they worked on, so that the example cannot come again."""
    world, now = make_world(), timezone.now()
    give_up(world.attempt, reason="no", now=now)
    answers = {"outcome": "gave_up", "difficulty": "trivial", "instruction_quality": 0, "test_quality": 0}
    close_attempt(world.attempt, answers=answers, now=now)
    Slot.objects.filter(study=world.study).exclude(state="closed").delete()
    Study.objects.filter(pk=world.study.pk).update(state="closed")
    reveal(world.revealing, now=now)
    return world


def test_the_reveal_is_the_one_page_that_shows_it_and_shows_it_to_one_person(db: None):
    world = revealed_world()
    path = reverse("second_judgement", args=[world.revealing.pk])
    shown = client_of(world, "owner").get(path)
    assert shown.status_code == 200
    assert all(mark in everything_in(shown) for mark in SECRET)
    assert {"private", "no-store"} & set(shown.headers["Cache-Control"].replace(",", " ").split())
    for kind in ("anonymous", "other", "stranger", "reader", "curator", "admin"):
        assert refused(client_of(world, kind).get(path)), f"shown to {kind}"


def test_no_other_route_tells_it_to_whom_it_was_revealed(db: None):
    world = revealed_world()
    client, told = client_of(world, "owner"), []
    for name, rule in RULES.items():
        if "owner" not in rule.who or name == "second_judgement":
            continue  # what serves no annotator is tried by tests/test_blindness.py
        arguments = rule.arguments(world)
        own = {"pk": world.revealing.pk} if arguments == {"pk": world.attempt.pk} else arguments
        answer = client.get(reverse(name, kwargs=own))
        told += [name for mark in SECRET if mark in everything_in(answer)]
    assert told == []


def test_no_socket_tells_it_to_whom_it_was_revealed(transactional_db: None):
    world = revealed_world()
    path, group = f"/ws/attempts/{world.revealing.pk}/", listener_of(world.revealing)
    admitted, said = async_to_sync(heard)(path, headers_of(world, "owner"), group)
    assert admitted
    assert [mark for mark in SECRET for frames in said for text in frames if mark in text] == []
