"""The budget where many ask at once, on both databases: for real, so this module is not marked for one that rolls back."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from django.db import connection

from examples.generation.budget import BudgetSpent
from examples.generation.claims import Claim
from examples.models import Fragment, GenerationRun
from tests.examples.generation.test_calls import ask, at_most, charged, make_run, taken
from tests.scripted_endpoint import Act, Say, scripted_endpoint


def test_the_budget_holds_however_many_ask_at_once(either_database: str) -> None:
    run = make_run()
    run.budget_tokens = 3 * at_most(run).tokens
    run.save()
    slots = [taken(run, number) for number in range(1, 9)]
    most_seen = []

    def slow(_: object) -> Act:
        most_seen.append(GenerationRun.objects.get().charged_tokens)
        connection.close()
        return Say("yes", tokens=None)

    def one(slot: tuple[Fragment, Claim]) -> str:
        try:
            return ask(server.base_url, run, *slot).state
        except BudgetSpent:
            return "spent"
        finally:
            connection.close()

    with scripted_endpoint(slow) as server, ThreadPoolExecutor(8) as workers:
        ended = sorted(workers.map(one, slots))
    assert ended == ["recorded"] * 3 + ["spent"] * 5
    assert max(most_seen) <= run.budget_tokens
    assert charged(run).tokens == run.budget_tokens
