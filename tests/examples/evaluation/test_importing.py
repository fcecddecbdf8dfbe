"""Samples come in: every published form, bad records beside good ones, twice the same."""

from __future__ import annotations

import gzip
import io
import json
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from examples.evaluation.answers import Given, Unusable, read
from examples.evaluation.creating import EvaluationRefused, Rules, create_evaluation, evaluation_named
from examples.evaluation.importing import import_samples, try_samples
from examples.models import AuditEntry, Evaluation, Example, ModelSample, Release, Split
from tests.examples.evaluation.factories import RIGHT, WRONG, make_evaluation
from tests.factories import make_version


def lines(*records: Any) -> bytes:
    return b"".join(
        (each if isinstance(each, bytes) else json.dumps(each).encode()) + b"\n" for each in records
    )


def texts(data: bytes) -> list[list[str]]:
    return [
        [reply.text for reply in each.replies] for each in read(io.BytesIO(data)) if isinstance(each, Given)
    ]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (lines({"task_id": "a", "completion": "1"}, {"task_id": "a", "completion": ""}), [["1"], [""]]),
        (gzip.compress(lines({"task_id": "a", "solution": "def f(): ..."}), mtime=0), [["def f(): ..."]]),
        (lines({"prompt": "def f():", "samples": ["1", "2"]}), [["1", "2"]]),
        (json.dumps([{"idx": 3, "completions": ["1", "2"], "gen_x": ["c", "c"]}]).encode(), [["1", "2"]]),
        (json.dumps([{"idx": 3, "code": "x", "gen_masked_method_no_test": ["c"]}]).encode(), [["c"]]),
        (lines({"key": "a", "reply": "1", "number": 7, "finish_reason": "length"}), [["1"]]),
    ],
)
def test_every_published_form_is_read(data, expected):
    assert texts(data) == expected


def test_recorded_verdicts_come_along_and_are_taken_from_nothing_but_truth_values():
    results = {
        "completions": ["1", "2"],
        "gen_x": ["c", "d"],
        "exec_gen_x": [["success", "", ""], ["error", "", ""]],
    }
    (given,) = read(io.BytesIO(json.dumps([{"idx": "3"} | results]).encode()))
    assert isinstance(given, Given)
    assert [reply.recorded for reply in given.replies] == [True, False]
    said = [True, False, None, "passed"]
    records = read(io.BytesIO(lines(*({"task_id": "a", "completion": "", "passed": each} for each in said))))
    assert [each.replies[0].recorded for each in records if isinstance(each, Given)] == [
        True,
        False,
        None,
        None,
    ]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "holds no JSON record"),
        (b"\x1f\x8b\x08broken", "damaged"),
        (lines({"question": "x"}), "no known form (keys question)"),
        ("{}".encode("utf-16"), "no text in UTF-8"),
    ],
)
def test_a_file_of_no_known_form_is_refused_as_what_it_is(data, said):
    (refused,) = read(io.BytesIO(data))
    assert isinstance(refused, Unusable)
    assert refused.problem.number == 0
    assert said in str(refused.problem)


@pytest.fixture
def evaluation(db) -> Evaluation:
    return make_evaluation([make_version("add"), make_version("plus")])


BAD = (
    {"task_id": "add", "completion": RIGHT},
    {"task_id": "add", "completion": 3},
    {"task_id": "gone", "completion": RIGHT},
    b"{broken",
    {"completion": RIGHT},
    {"task_id": "add", "completion": "x\0"},
    {"task_id": "add", "completion": WRONG},
    {"task_id": "plus", "completion": RIGHT},
)


def test_bad_records_are_named_with_field_and_remedy_while_good_ones_come_in(evaluation):
    incoming = import_samples(io.BytesIO(lines(*BAD)), evaluation, file_name="s.jsonl", by=None)
    assert (incoming.read, incoming.added, incoming.unchanged) == (8, 3, 0)
    assert [(each.number, each.field) for each in incoming.problems] == [
        (2, "completion"),
        (3, "key"),
        (4, "line"),
        (5, "task_id"),
        (6, "completion"),
    ]
    assert all(each.message and each.remedy for each in incoming.problems)
    numbers = ModelSample.objects.filter(item__version__example__key="add").values_list("number", "reply")
    assert list(numbers) == [
        (1, RIGHT),
        (4, WRONG),
    ]  # 2 and 3 are the bad ones': mended, they find their places
    assert evaluation.sources[0]["name"] == "s.jsonl"
    assert AuditEntry.objects.get(action="samples imported").detail["added"] == 3


def test_the_same_file_twice_changes_nothing_and_a_mended_one_adds_what_was_missing(evaluation):
    def again(*records: Any) -> tuple[int, int, int]:
        incoming = import_samples(io.BytesIO(lines(*records)), evaluation, file_name="s.jsonl", by=None)
        return incoming.added, incoming.unchanged, len(incoming.problems)

    again(*BAD)
    kept = list(ModelSample.objects.values())
    assert again(*BAD) == (0, 3, 5)
    assert list(ModelSample.objects.values()) == kept
    assert len(evaluation.sources) == 1
    assert again(BAD[0], {"task_id": "add", "completion": WRONG}, *BAD[2:]) == (1, 3, 4)
    assert again({"task_id": "add", "completion": "other"}) == (0, 0, 1)
    assert len(evaluation.sources) == 2


def test_a_dry_run_says_the_same_and_changes_nothing(evaluation):
    versions = [item.version for item in evaluation.items.all()]
    for known in (evaluation, None):
        incoming = try_samples(io.BytesIO(lines(*BAD)), versions, evaluation=known)
        assert (incoming.read, incoming.added, len(incoming.problems)) == (8, 3, 5)
    assert not ModelSample.objects.exists()


def test_codet_samples_find_their_example_by_its_prompt(evaluation):
    context = make_version("odd", context="def odd(a):\n    \n", gap=16).example.versions.get()
    evaluation = make_evaluation([context])
    data = lines({"prompt": "def odd(a):\n", "samples": ["    return a % 2\n", "    return 1\n"]})
    assert import_samples(io.BytesIO(data), evaluation, file_name="c", by=None).added == 2
    strange = lines({"prompt": "def even(a):\n", "samples": ["x"]})
    (problem,) = import_samples(io.BytesIO(strange), evaluation, file_name="c", by=None).problems
    assert problem.field == "prompt"


def test_an_evaluation_is_over_versions_that_passed_and_keeps_them_when_the_dataset_changes(db, curator):
    passed = make_version("add")
    unchecked = make_version("sub", checked=False)
    retired = make_version("old")
    Example.objects.filter(pk=retired.example_id).update(status="retired", status_reason="wrong")
    over = passed.example.dataset

    def made(name: str, rules: Rules) -> list[int]:
        evaluation = create_evaluation(
            over, name=name, model_name="m", origin="file", rules=rules, by=curator
        )
        return list(evaluation.items.values_list("version_id", flat=True))

    assert made("a", Rules()) == [passed.pk]
    assert made("b", Rules(unchecked=True)) == [passed.pk, unchecked.pk]
    make_version("new")
    assert Evaluation.objects.get(name="a").items.count() == 1
    with pytest.raises(EvaluationRefused, match="already"):
        made("a", Rules())
    with pytest.raises(EvaluationRefused, match="cannot be kept"):
        made("c", Rules(top_p=2.0))


def test_a_draft_is_refused_and_another_use_of_a_name_too(db, curator):
    version = make_version("add")
    over = version.example.dataset
    split = Split.objects.create(
        release=Release.objects.create(name="r", number="1.0.0", created_by=curator), name="test", share=1
    )
    with pytest.raises(EvaluationRefused, match="draft"):
        create_evaluation(split, name="a", model_name="m", origin="file", rules=Rules(), by=None)
    asked = {"origin": "file", "by": None}
    first = evaluation_named("a", over, model_name="m", rules=Rules(temperature=0.2), **asked)
    assert evaluation_named("a", over, model_name="m", rules=Rules(), **asked) == first
    with pytest.raises(EvaluationRefused, match="another temperature"):
        evaluation_named("a", over, model_name="m", rules=Rules(temperature=0.8), **asked)


def test_the_command_imports_tries_and_says_what_is_wrong(evaluation, tmp_path, capsys):
    file = tmp_path / "samples.jsonl"
    file.write_bytes(lines(*BAD))
    asked = ["import_samples", str(file), "--dataset", "demo", "--model", "org/m-7b", "--temperature", "0.8"]
    call_command(*asked, "--dry-run")
    assert "org-m-7b-demo: 8 records read; 3 samples would be added" in capsys.readouterr().out
    assert Evaluation.objects.count() == 1
    call_command(*asked)
    said = capsys.readouterr()
    assert "3 samples added, 0 unchanged, 5 problems" in said.out
    assert "record 2 (line 2), completion: is int, not text." in said.err
    made = Evaluation.objects.get(name="org-m-7b-demo")
    assert (made.model_name, made.temperature, made.top_p) == ("org/m-7b", 0.8, None)
    for wrong in (["--dataset", "nowhere"], ["--release", "x@1.0.0/test"]):
        with pytest.raises(CommandError, match="There is no"):
            call_command("import_samples", str(file), *wrong, "--model", "m")
    file.write_bytes(lines({"task_id": "gone", "completion": ""}))
    with pytest.raises(CommandError, match="No sample could come in"):
        call_command(*asked)
