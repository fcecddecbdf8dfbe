"""Two who score at once, on both databases: for real, so this module is not marked for one that rolls back."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

from django.db import connection

from examples.evaluation.grid import grid
from examples.evaluation.rows import tallies
from examples.evaluation.scoring import Asked, score_evaluation
from examples.models import ModelSample
from runner.models import Execution
from tests.examples.evaluation.factories import make_evaluation, make_sample
from tests.factories import make_version


def test_two_who_score_at_once_ask_for_each_program_once(either_database):
    evaluation = make_evaluation([make_version("add")])
    item = evaluation.items.get()
    for number in range(1, 61):
        make_sample(item, number, reply=f"    return a + b + {number // 2}\n")
    ready = threading.Barrier(2)

    def score() -> Asked:
        try:
            ready.wait(30)
            return score_evaluation(evaluation)
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        asked = [each.result() for each in [pool.submit(score) for _ in range(2)]]
    assert sum(each.executions for each in asked) == Execution.objects.count() == 31
    assert sum(each.executions + each.reused for each in asked) == 60
    assert not ModelSample.objects.waiting().exists()
    (tally,) = tallies(evaluation)
    assert (tally.n, tally.left) == (0, 60)
    assert grid([evaluation])[0].counts[0].samples == 0
