import xml.etree.ElementTree as ET

import pytest

from examples.generation.fragments.runs import plain_run
from examples.generation.yields import funnel_svg, wilson, yield_of, yields_by_prompts
from examples.models import Call, Dataset, Example, Fragment, GenerationRun, Round
from runner.models import Execution
from runner.outcome import Outcome
from runner.sandbox.base import Job, Limits
from tests.factories import make_environment

pytestmark = pytest.mark.django_db


def model_run(name, prompts, model="tiny"):
    dataset, _ = Dataset.objects.get_or_create(name="made", defaults={"title": "made"})
    return GenerationRun.objects.create(
        name=name,
        dataset=dataset,
        path="model",
        model=model,
        environment=make_environment(),
        prompts=prompts,
    )


def fragment(run, state, *, subjects=(), passed=False, tokens=0, **fields):
    number = run.fragments.count() + 1
    made = Fragment.objects.create(
        run=run, number=number, source="x", function=f"f{number}", state=state, **fields
    )
    for at, subject in enumerate(subjects, start=1):
        last = at == len(subjects)
        call = None
        if tokens:
            call = Call.objects.create(
                run=run, fragment=made, step="standalone", number=at, request={}, request_hash="", prompt_version="1",
                reserved_tokens=tokens, charged_tokens=tokens, charged_micros=5, prompt_tokens=tokens,
                completion_tokens=1, state="recorded", ended_at=run.created_at,
            )  # fmt: skip
        Round.objects.create(
            fragment=made,
            number=at,
            step={"program": "standalone", "tests": "write_tests", "instruction": "acceptance"}[subject],
            subject=subject,
            seconds=2.0,
            call=call,
            execution=execution(run, passed) if last else None,
        )
    return made


def execution(run, passed):
    job = Job(program="", tests="", expected=("t",), limits=Limits.for_cpu(1))
    return Execution.objects.create(
        queue="bulk",
        environment=run.environment,
        job_data=job.as_json(),
        state="finished",
        outcome=Outcome.PASSED if passed else Outcome.FAILED,
    )


def example(run):
    return Example.objects.create(dataset=run.dataset, key=str(Example.objects.count()), title="f")


def test_the_funnel_counts_how_far_fragments_came_and_why_they_ended():
    run = model_run("a", {"standalone": "1"})
    fragment(run, "left_out", reason_code="network")
    fragment(run, "rejected", reason_code="syntax")
    fragment(run, "rejected", subjects=["program"], reason_code="no_test", tokens=10)
    fragment(run, "rejected", subjects=["program", "tests"], reason_code="tests_fail", tokens=10)
    fragment(
        run, "rejected", subjects=["program", "tests"], passed=True, reason_code="check_stable", tokens=10
    )
    fragment(run, "accepted", subjects=["program", "tests"], passed=True, tokens=10, example=example(run))
    fragment(run, "waiting")
    fragment(run, "rejected", subjects=["tests"], reason_code="odd")  # what came later had what comes before
    report = yield_of([run])
    assert [(stage.name, stage.count, stage.of) for stage in report.stages] == [
        ("found", 8, 8),
        ("taken", 7, 8),
        ("standalone", 5, 7),
        ("tests", 4, 5),
        ("passes", 2, 4),
        ("held", 1, 2),
        ("accepted", 1, 1),
    ]
    assert {(stop.code, stop.count) for stop in report.stops} == {
        ("network", 1), ("syntax", 1), ("no_test", 1), ("tests_fail", 1), ("check_stable", 1), ("odd", 1),
    }  # fmt: skip
    assert (report.open, report.rounds, report.calls, report.executions) == (1, 8, 7, 5)
    assert (report.prompt_tokens, report.completion_tokens, report.micros, report.seconds) == (
        70,
        7,
        35,
        16.0,
    )
    assert (report.rounds_each, report.tokens_each, report.micros_each) == (8.0, 77.0, 35.0)


def test_what_an_accepted_example_took_is_undefined_without_one():
    report = yield_of([plain_run("none", dataset="made")])
    assert report.rounds_each is None
    assert report.as_json()["per_accepted"]["seconds"] is None
    assert report.stages[1].low is None


def test_runs_that_share_model_and_prompts_stand_together():
    runs = [model_run("a", {"s": "1"}), model_run("b", {"s": "1"}), model_run("c", {"s": "2"})]
    runs += [model_run("e", {"s": "1"}, model="large"), plain_run("d", dataset="made")]
    assert [(each.title, each.runs) for each in yields_by_prompts(runs)] == [
        ("tiny; s 1", ("a", "b")),
        ("tiny; s 2", ("c",)),
        ("large; s 1", ("e",)),
        ("without a model", ("d",)),
    ]


def test_the_queries_do_not_grow_with_runs_or_fragments(django_assert_num_queries):
    runs = [model_run("a", {}), model_run("b", {})]
    for run in runs:
        fragment(run, "rejected", subjects=["program", "tests"], reason_code="x")
    with django_assert_num_queries(4):
        yield_of(runs)


def test_the_interval_is_wilsons():
    low, high = wilson(8, 10)
    assert (round(low, 4), round(high, 4)) == (0.4902, 0.9433)  # hand-worked; Newcombe 1998, method 3
    assert wilson(0, 0) == (None, None)
    assert wilson(0, 5)[0] == 0.0


def test_the_svg_is_well_formed_and_escapes_what_it_is_named():
    run = plain_run("a", dataset="made")
    fragment(run, "left_out", reason_code="network")
    tree = ET.fromstring(funnel_svg(yield_of([run], title="<b> & co")))
    texts = [node.text for node in tree.iter("{http://www.w3.org/2000/svg}text")]
    assert texts[0] == "<b> & co"
    assert "Fragments found" in texts
