"""Exports: Benchwright's own comes in again as the same version, HumanEval's runs in HumanEval's way."""

from __future__ import annotations

import json
import subprocess
import sys
import tracemalloc

import pytest

from examples.exporting import export
from examples.importing.benchwright import parse
from examples.importing.exec_csn import parse as parse_exec_csn
from examples.importing.humaneval import parse as parse_humaneval
from examples.models import Example, Version
from tests.factories import make_version


def lines(style: str) -> list[dict]:
    return [json.loads(line) for line in b"".join(export(Example.objects.all(), style)).splitlines()]


@pytest.fixture
def stored(db):
    """A version as the importer stores it: hashed, with a method, a helper behind it and non-ASCII text."""
    record = parse_exec_csn(
        {
            "idx": 1,
            "func_name": "Box.size",
            "revised_instruction": "Größe \u202e der Kiste",
            "docstring": "",
            "repo_name": "owner/boxes",
            "code": (
                "import math\r\n\nclass Box:\n    def size(self):\n        # twice\n        return helper(2)\n\n"
                "def helper(n):\n    return n * 2\n\n\ndef test_size():\n    assert Box().size() == 4\n\n\n"
                "if __name__ == '__main__':\n    test_size()\n"
            ),
        }
    )
    fields = {name: getattr(record, name) for name in ("context", "gap", "reference", "block", "visible")}
    return make_version(
        record.key,
        instruction=record.instruction,
        focal_name=record.focal_name,
        repository=record.repository,
        segments=[vars_of(segment) for segment in record.tests],
        expected=list(record.expected),
        **fields,
    )


def vars_of(segment) -> dict:
    return {"offset": segment.offset, "text": segment.text, "kind": segment.kind, "name": segment.name}


def test_benchwrights_own_export_is_read_again_as_the_same_version(stored):
    (item,) = lines("benchwright")
    record = parse(item)
    assert record.content_hash == stored.content_hash
    assert (record.key, record.repository, record.licence) == ("1", "owner/boxes", "MIT")


def test_a_humaneval_export_runs_the_way_humaneval_runs_it(stored, tmp_path):
    (item,) = lines("humaneval")
    for completion, passes in ((item["canonical_solution"], True), ("        return 5\n", False)):
        program = f"{item['prompt']}{completion}\n{item['test']}\ncheck({item['entry_point']})"
        (tmp_path / "program.py").write_text(program, newline="")
        done = subprocess.run([sys.executable, "program.py"], cwd=tmp_path, capture_output=True)
        assert (done.returncode == 0) == passes


def test_what_came_from_humaneval_leaves_in_a_form_that_humaneval_reads(db):
    item = {
        "task_id": "HumanEval/0",
        "prompt": 'def one():\n    """Return 1."""\n',
        "entry_point": "one",
        "canonical_solution": "    return 1\n",
        "test": "def check(candidate):\n    assert candidate() == 1\n",
    }
    record = parse_humaneval(item)
    make_version(
        record.key,
        context=record.context,
        gap=record.gap,
        reference=record.reference,
        segments=[vars_of(segment) for segment in record.tests],
        expected=list(record.expected),
        focal_name=record.focal_name,
        block=record.block,
    )
    (out,) = lines("humaneval")
    again = parse_humaneval(out)
    assert (again.context.strip(), again.reference) == (record.context.strip(), record.reference)
    assert "check" in out["test"]


def test_retired_examples_are_left_out_and_an_unknown_format_is_refused(stored):
    gone = make_version("gone").example
    Example.objects.filter(pk=gone.pk).update(status="retired", status_reason="a duplicate")
    assert [item["key"] for item in lines("benchwright")] == ["1"]
    with pytest.raises(KeyError):
        export(Example.objects.all(), "xml")


def test_memory_stays_flat_however_many_versions_there_are(stored):
    def peak(number: int) -> int:
        tracemalloc.start()
        for _ in export(Example.objects.all(), "benchwright"):
            pass
        _, highest = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert Version.objects.count() == number
        return highest

    grow_to(300)
    peak(300)
    few = peak(300)
    grow_to(1200)
    assert peak(1200) < 1.5 * few


def grow_to(number: int) -> None:
    """Add examples with one version each, until there are so many."""
    model = Version.objects.select_related("example").first()
    have = Version.objects.count()
    examples = Example.objects.bulk_create(
        [Example(dataset=model.example.dataset, key=f"more{at}", title="more") for at in range(have, number)]
    )
    fields = {field.attname: getattr(model, field.attname) for field in Version._meta.concrete_fields}
    Version.objects.bulk_create(
        [Version(**{**fields, "id": None, "example_id": example.pk}) for example in examples]
    )
    for version in Version.objects.filter(current_of=None):
        Example.objects.filter(pk=version.example_id).update(current=version)
