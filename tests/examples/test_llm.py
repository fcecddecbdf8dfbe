"""Models over real HTTP on 127.0.0.1: what is sent, what is asked again, what is given up."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from examples.llm import (
    Endpoint,
    ModelRefused,
    Parameters,
    Prompt,
    Reply,
    TryLater,
    complete,
    patiently,
    request_of,
)
from examples.llm.base import hash_of
from examples.llm.patience import asked_pause, pause
from tests.scripted_endpoint import Act, Fail, Hang, Raw, Say, in_turn, scripted_endpoint

PROMPT = Prompt("You write tests.", "def add(a, b): ...")
PARAMETERS = Parameters("tiny", temperature=0.2, seed=7, max_tokens=64)
REQUEST = request_of(PROMPT, PARAMETERS)
KEY = "sk-nobody"


def asked_once(act: Act, timeout: float = 5.0) -> Reply:
    """Return the reply of an endpoint that does one thing."""
    with scripted_endpoint(in_turn(act)) as server:
        return Endpoint(server.base_url, key=KEY, timeout=timeout).answer(REQUEST)


def test_a_reply_comes_with_why_it_ended_and_its_tokens() -> None:
    reply = asked_once(Say("assert add(1, 2) == 3", finish="length", tokens=(31, 9)))
    assert reply == Reply("assert add(1, 2) == 3", "length", 31, 9)


def test_tokens_that_the_endpoint_does_not_count_are_unknown() -> None:
    assert asked_once(Say("yes", tokens=None)) == Reply("yes", "stop", None, None)
    assert asked_once(Say("yes", tokens=(10**30, -1))) == Reply("yes", "stop", None, None)


def test_the_request_holds_model_messages_and_parameters_and_the_key_goes_in_a_header() -> None:
    with scripted_endpoint(in_turn(Say("yes"))) as server:
        Endpoint(server.base_url, key=KEY).answer(REQUEST)
    assert server.requests == [
        {
            "model": "tiny",
            "messages": [
                {"role": "system", "content": "You write tests."},
                {"role": "user", "content": "def add(a, b): ..."},
            ],
            "temperature": 0.2,
            "max_tokens": 64,
            "seed": 7,
        }
    ]
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}"


def test_json_and_top_p_are_sent_only_where_asked_for() -> None:
    asked = request_of(PROMPT, Parameters("tiny", top_p=0.9, json=True))
    assert asked["response_format"] == {"type": "json_object"}
    assert asked["top_p"] == 0.9
    assert "seed" not in asked
    assert "top_p" not in REQUEST


def test_the_hash_of_a_request_does_not_depend_on_the_order_of_keys() -> None:
    assert hash_of(dict(reversed(REQUEST.items()))) == hash_of(REQUEST)
    assert hash_of({**REQUEST, "seed": 8}) != hash_of(REQUEST)


@pytest.mark.parametrize("status", [429, 408])
def test_turned_away_is_asked_later_and_costs_nothing(status: int) -> None:
    with pytest.raises(TryLater) as caught:
        asked_once(Fail(status, headers=(("Retry-After", "7"),)))
    assert (caught.value.after, caught.value.charged) == (7.0, False)


@pytest.mark.parametrize("act", [Fail(500), Fail(503), Raw(b"<html>"), Raw(b'{"choices": []}'), Raw(b"[]")])
def test_an_endpoint_that_broke_is_asked_later_and_may_charge(act: Act) -> None:
    with pytest.raises(TryLater) as caught:
        asked_once(act)
    assert caught.value.charged


@pytest.mark.parametrize(
    ("act", "said"), [(Hang(2), "broke off: timed out"), (Hang(2, drips=True), "took too long")]
)
def test_an_endpoint_that_hangs_or_drips_is_given_up_in_time(act: Act, said: str) -> None:
    with pytest.raises(TryLater, match=said) as caught:
        asked_once(act, timeout=0.2)
    assert caught.value.charged


def test_where_nobody_listens_nothing_is_charged() -> None:
    with scripted_endpoint(in_turn(Say("gone"))) as server:
        pass
    with pytest.raises(TryLater) as caught:
        Endpoint(server.base_url).answer(REQUEST)
    assert not caught.value.charged


def test_a_wrong_key_is_not_asked_again_and_is_not_repeated_in_the_message() -> None:
    with pytest.raises(ModelRefused) as caught:
        asked_once(Fail(401, body=f"invalid key {KEY}"))
    assert "401: invalid key …" in str(caught.value)


def test_a_redirect_is_followed_nowhere() -> None:
    with scripted_endpoint(in_turn(Say("stolen"))) as other:
        elsewhere = (("Location", f"{other.base_url}/chat/completions"),)
        with pytest.raises(ModelRefused):
            asked_once(Fail(302, headers=elsewhere))
    assert other.requests == []


def test_an_address_that_is_no_endpoint_is_refused() -> None:
    with pytest.raises(ModelRefused, match="begin it with https"):
        Endpoint("file:///etc/passwd")


def test_a_question_is_asked_until_it_is_answered_with_pauses_that_double_or_are_named() -> None:
    waited: list[float] = []
    acts = (Fail(500), Fail(429, headers=(("Retry-After", "0.5"),)), Fail(500), Say("at last"))
    with scripted_endpoint(in_turn(*acts)) as server:
        model = Endpoint(server.base_url)
        assert patiently(lambda: model.answer(REQUEST), tries=4, wait=waited.append).text == "at last"
    assert waited == [1.0, 0.5, 4.0]


def test_after_the_last_try_the_failure_is_raised() -> None:
    with scripted_endpoint(in_turn(Fail(500))) as server:
        model = Endpoint(server.base_url)
        with pytest.raises(TryLater):
            patiently(lambda: model.answer(REQUEST), tries=2, wait=lambda _: None)
    assert len(server.requests) == 2


def test_a_pause_is_bounded_whatever_the_endpoint_asks_for() -> None:
    assert pause(1, 86_400) == 120
    assert pause(20, None) == 120
    assert pause(1, -1) == 0


def test_a_date_is_read_as_a_pause_and_what_is_neither_as_none() -> None:
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=30))
    assert 25 < (asked_pause(soon) or 0) <= 30
    assert asked_pause("Wed, 21 Oct 2015 07:28:00 GMT") == 0
    assert asked_pause("soon") is None
    assert asked_pause(None) is None


def test_several_replies_are_asked_one_by_one_each_with_a_seed_of_its_own() -> None:
    with scripted_endpoint(in_turn(Say("a"), Say("b"), Say("c"))) as server:
        replies = complete(Endpoint(server.base_url), PROMPT, parameters=PARAMETERS, n=3)
    assert [each.text for each in replies] == ["a", "b", "c"]
    assert [each["seed"] for each in server.requests] == [7, 8, 9]


def test_no_more_requests_are_under_way_than_the_limit_allows() -> None:
    under_way, seen = [], []

    def script(_: dict[str, object]) -> Act:
        under_way.append(1)
        seen.append(len(under_way))
        time.sleep(0.05)
        under_way.pop()
        return Say("yes")

    with scripted_endpoint(script) as server, ThreadPoolExecutor(6) as people:
        model = Endpoint(server.base_url, concurrency=2)
        replies = list(people.map(model.answer, [REQUEST] * 6))
    assert len(replies) == 6
    assert max(seen) == 2
