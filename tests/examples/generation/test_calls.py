"""Calls and the budget: what is kept before a question is sent, what is charged, and what is asked again."""

from __future__ import annotations

from typing import Any

import pytest

from examples.generation import budget, calls, claims, prompts
from examples.generation.budget import BudgetSpent, Charge
from examples.generation.claims import Claim, ClaimLost
from examples.llm import Endpoint, ModelRefused, Reply, TryLater, request_of
from examples.llm.base import hash_of
from examples.models import Call, Dataset, Fragment, GenerationRun, Step
from tests.examples.generation.asking import Answering
from tests.factories import make_environment
from tests.scripted_endpoint import Act, Fail, Hang, Say, in_turn, scripted_endpoint

pytestmark = pytest.mark.django_db
WRITTEN = prompts.write("write_tests", program="def add(a, b): ...", function="add", again="")
SPENT = (1_000, 200)
State = Call.State


def make_run(**fields: object) -> GenerationRun:
    """Return a run that asks 64 tokens at a price of 1 and 2 per million, in millionths."""
    dataset, _ = Dataset.objects.get_or_create(name="made", defaults={"title": "Made"})
    columns = {
        "name": "run-1",
        "path": "model",
        "model": "tiny",
        "max_tokens": 64,
        "prompt_micros": 1_000_000,
        "completion_micros": 2_000_000,
        **fields,
    }
    return GenerationRun.objects.create(dataset=dataset, environment=make_environment(), **columns)


def taken(run: GenerationRun, number: int = 1) -> tuple[Fragment, Claim]:
    """Return a new fragment of the run, claimed."""
    fragment = Fragment.objects.create(run=run, number=number, source="def add(a, b): ...", function="add")
    claim = claims.take(fragment.pk)
    assert claim is not None
    return fragment, claim


def ask(server_url: str, run: GenerationRun, fragment: Fragment, claim: Claim, number: int = 1) -> Call:
    return calls.ask(
        Endpoint(server_url, timeout=1.0),
        WRITTEN,
        run=run,
        fragment=fragment,
        claim=claim,
        step=Step.WRITE_TESTS,
        number=number,
    )


def at_most(run: GenerationRun) -> Charge:
    return budget.at_most(run, request_of(WRITTEN.prompt, calls.parameters_of(run, json=False)))


def charged(run: GenerationRun) -> Charge:
    run.refresh_from_db()
    return Charge(run.charged_tokens, run.charged_micros)


@pytest.fixture(autouse=True)
def at_once(settings: Any) -> None:
    """No pause between two tries, and three of them."""
    settings.LLM_BACKOFF_SECONDS = 0.0
    settings.LLM_TRIES = 3


def test_a_call_is_kept_with_all_it_may_cost_before_it_is_sent() -> None:
    run = make_run()
    fragment, claim = taken(run)
    seen: list[tuple[str, int, int]] = []

    class Watching:
        """A model that looks at the database while it is asked."""

        def answer(self, request: object) -> Reply:
            seen.extend(Call.objects.values_list("state", "reserved_tokens", "charged_micros"))
            return Reply("yes", "stop", 10, 5)

    calls.ask(Watching(), WRITTEN, run=run, fragment=fragment, claim=claim, step=Step.WRITE_TESTS, number=1)
    most = at_most(run)
    assert seen == [("sent", most.tokens, most.micros)]
    assert most.tokens > 64 + len(WRITTEN.prompt.user)
    assert charged(run) == (15, 20)


def test_a_recorded_reply_is_never_asked_for_again() -> None:
    run = make_run()
    fragment, claim = taken(run)
    with scripted_endpoint(in_turn(Say("once", tokens=SPENT))) as server:
        first = ask(server.base_url, run, fragment, claim)
        again = ask(server.base_url, run, fragment, claim)
    assert (again.pk, again.reply, len(server.requests)) == (first.pk, "once", 1)
    assert charged(run) == (1_200, 1_400)
    assert first.request_hash == hash_of(server.requests[0])
    assert first.prompt.endswith("one block, ```python … ```.\n")


def test_one_that_was_lost_counts_in_full_and_is_sent_again() -> None:
    run = make_run()
    fragment, dead = taken(run)
    with pytest.raises(ZeroDivisionError):
        calls.ask(
            Answering(lambda: 1 // 0),
            WRITTEN,
            run=run,
            fragment=fragment,
            claim=dead,
            step=Step.WRITE_TESTS,
            number=1,
        )
    Fragment.objects.update(state="waiting", claim="", lease_end=None)
    claim = claims.take(fragment.pk)
    assert claim is not None
    with scripted_endpoint(in_turn(Say("twice", tokens=SPENT))) as server:
        found = ask(server.base_url, run, fragment, claim)
    assert found.attempt == 2
    assert list(Call.objects.values_list("attempt", "state")) == [(1, "lost"), (2, "recorded")]
    most = at_most(run)
    assert charged(run) == (most.tokens + 1_200, most.micros + 1_400)


def test_what_is_recorded_late_is_discarded_where_another_worker_went_on() -> None:
    run = make_run()
    fragment, slow = taken(run)

    def overtaken() -> Reply:
        Fragment.objects.update(claim="another")
        return Reply("too late", "stop", 1, 1)

    with pytest.raises(ClaimLost):
        calls.ask(
            Answering(overtaken),
            WRITTEN,
            run=run,
            fragment=fragment,
            claim=slow,
            step=Step.WRITE_TESTS,
            number=1,
        )
    assert Call.objects.get().state == State.SENT
    assert charged(run) == at_most(run)


@pytest.mark.parametrize(
    ("failure", "state", "costs"),
    [(Fail(429), "refused", 0), (Fail(500), "lost", 1), (Hang(2), "lost", 1)],
)
def test_what_the_endpoint_may_have_worked_on_is_charged_and_what_it_turned_away_is_not(
    failure: Act, state: str, costs: int
) -> None:
    run = make_run()
    fragment, claim = taken(run)
    with scripted_endpoint(in_turn(failure, Say("then", tokens=SPENT))) as server:
        ask(server.base_url, run, fragment, claim)
    assert list(Call.objects.values_list("attempt", "state")) == [(1, state), (2, "recorded")]
    assert charged(run).tokens == costs * at_most(run).tokens + 1_200
    assert Call.objects.get(attempt=1).problem


def test_tokens_that_the_endpoint_does_not_count_are_charged_in_full() -> None:
    run = make_run()
    fragment, claim = taken(run)
    with scripted_endpoint(in_turn(Say("yes", tokens=None))) as server:
        ask(server.base_url, run, fragment, claim)
    assert charged(run) == at_most(run)


def test_after_the_last_try_nothing_is_under_way() -> None:
    run = make_run()
    fragment, claim = taken(run)
    with scripted_endpoint(in_turn(Fail(503))) as server, pytest.raises(TryLater):
        ask(server.base_url, run, fragment, claim)
    assert list(Call.objects.values_list("state", flat=True)) == ["lost"] * 3
    assert charged(run).tokens == 3 * at_most(run).tokens


def test_what_the_endpoint_refuses_for_good_is_asked_once_and_costs_nothing() -> None:
    run = make_run()
    fragment, claim = taken(run)
    with scripted_endpoint(in_turn(Fail(401))) as server, pytest.raises(ModelRefused):
        ask(server.base_url, run, fragment, claim)
    assert (len(server.requests), charged(run)) == (1, (0, 0))


@pytest.mark.parametrize("limit", ["budget_tokens", "budget_micros"])
def test_a_call_that_might_cost_more_than_is_left_is_not_sent(limit: str) -> None:
    run = make_run()
    fragment, claim = taken(run)
    most = at_most(run)
    setattr(run, limit, (most.tokens if limit == "budget_tokens" else most.micros) - 1)
    run.save()
    with scripted_endpoint(in_turn(Say("never"))) as server, pytest.raises(BudgetSpent, match="Raise it"):
        ask(server.base_url, run, fragment, claim)
    assert (server.requests, Call.objects.count(), charged(run)) == ([], 0, (0, 0))
    setattr(run, limit, getattr(run, limit) + 1)
    run.save()
    with scripted_endpoint(in_turn(Say("now"))) as server:
        assert ask(server.base_url, run, fragment, claim).reply == "now"


def test_money_is_counted_in_whole_millionths_and_rounded_up() -> None:
    run = make_run(prompt_micros=150_000, completion_micros=600_000)
    assert budget.charge_of(run, 1_000, 100) == (1_100, 210)
    assert budget.charge_of(run, 1, 0) == (1, 1)
    assert budget.charge_of(run, 0, 0) == (0, 0)
