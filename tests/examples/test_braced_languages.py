"""JavaScript's and C++'s ways in examples: opening, answers, visible tests, importing; and the examples we wrote. Pure."""

from __future__ import annotations

import json
from typing import Any

import pytest

from examples.assembly import Answer
from examples.demo.braced import as_jsonl, file_of, records
from examples.exporting import humaneval
from examples.importing.base import Record, RecordInvalid
from examples.importing.benchwright import as_item, parse
from examples.importing.environments import Environments
from examples.languages.braces.opening import mask
from examples.languages.ways import LanguageUnknown, ways
from examples.masking import MaskingError, fill, restore, test_source
from examples.models import Version
from examples.tracebacks import error_lines, map_traceback
from runner.languages.braces.tokens import Dialect

JAVASCRIPT = """"use strict";
/** A board. */
class Board {
  constructor() { this.cells = []; }

  /** Who won. */
  winner(size = 3) {
    // look at é
    const text = `a
b`;
    return null;
  }

  other() {
    return 1;
  }
}

// what holds
function test_a() {
  const board = new Board();
  assert.equal(board.winner(), null);
  assert.equal(board.other(), 1);
}

function test_b() {
  assert(true);
}
"""
CPP = """#include <vector>
namespace shop {
/// merges, naïvely
std::vector<int> merge(const std::vector<int>& shifts,
                       int pause) {
  return shifts;
}

struct Till {
  void add(int cents) {
    total += cents;
  }
  int total = 0;
};
}  // namespace shop
void test_a() { assert(shop::merge({1}, 0).size() == 1); assert(true); }
"""
EXAMPLES = [pytest.param(record, id=record.key) for name in ("javascript", "cpp") for record in records(name)]


@pytest.mark.parametrize("language", ["javascript", "cpp"])
def test_the_files_are_what_the_sources_make_of_them(language: Dialect) -> None:
    assert file_of(language).read_text() == as_jsonl(language)
    assert len(list(records(language))) == 12


@pytest.mark.parametrize("record", EXAMPLES)
def test_an_example_comes_in_as_it_was_written(record: Record) -> None:
    item = json.loads(json.dumps(as_item(record)))
    assert parse(item).content_hash == record.content_hash
    assert parse({**item, "visible": None}).visible == record.visible
    assert 0 < record.visible < record.total
    assert not record.needs


@pytest.mark.parametrize("record", EXAMPLES)
def test_an_example_can_be_begun_and_solved(record: Record) -> None:
    its = ways(record.language)
    start = its.starting_answer(record.context, record.gap)
    assert its.assemble(record.context, record.gap, Answer(start)).function_found
    head, _, tail = start.rpartition("\n    \n")
    dedented = record.reference.replace("\n    ", "\n") if start.startswith("    ") else record.reference
    answer = f"{head}\n    {dedented}\n{tail}"
    made = its.assemble(record.context, record.gap, Answer(answer))
    reference = fill(record.context, record.gap, record.reference)
    assert made.function_found
    assert made.error is None
    assert made.warnings == ()
    assert [line.split() for line in made.program.splitlines() if line.strip()] == [
        line.split() for line in reference.splitlines() if line.strip()
    ]
    assert len(made.lines) == made.program.count("\n")


@pytest.mark.parametrize("record", EXAMPLES)
def test_what_is_visible_of_an_example_holds_as_many_assertions(record: Record) -> None:
    its = ways(record.language)
    part = its.visible_part(record.test_source, record.expected, count=record.visible)
    lines = its.assertion_lines(part.text, part.expected)
    assert sum(map(len, lines.values())) == part.count == record.visible
    assert all(its.shown(part.text, *span) for spans in lines.values() for span in spans)
    whole = its.visible_part(record.test_source, record.expected, count=record.total)
    assert whole.expected == record.expected


@pytest.mark.parametrize(
    ("source", "name", "language", "first"),
    [
        (JAVASCRIPT, "Board.winner", "javascript", 6),
        (CPP, "shop::merge", "cpp", 3),
        (CPP, "shop::Till::add", "cpp", 9),
    ],
)
def test_a_masked_source_is_restored_byte_for_byte(
    source: str, name: str, language: Dialect, first: int
) -> None:
    masked = mask(source, name, language, tests=("test_a", "test_b"))
    assert restore(masked) == source
    assert "test_a" not in masked.context
    its = ways(language)
    assert its.path(masked.context, masked.gap) == name
    assert its.first_line(masked.context, masked.gap) == first


def test_an_empty_body_returns_what_is_empty() -> None:
    merge, add = mask(CPP, "shop::merge", "cpp"), mask(CPP, "shop::Till::add", "cpp")
    assert "int pause) {\n  return {};\n}" in ways("cpp").empty_program(merge.context, merge.gap)
    assert "(int cents) {\n    \n  }" in ways("cpp").empty_program(add.context, add.gap)
    masked = mask(JAVASCRIPT, "Board.winner", "javascript")
    assert "(size = 3) {\n    \n  }" in ways("javascript").empty_program(masked.context, masked.gap)


@pytest.mark.parametrize(("gap", "said"), [(0, "no function's body"), (10_000, "behind the context")])
def test_a_gap_where_nothing_is_open_is_refused(gap: int, said: str) -> None:
    masked = mask(JAVASCRIPT, "Board.winner", "javascript")
    with pytest.raises(MaskingError, match=said):
        ways("javascript").path(masked.context, gap)


def test_a_function_that_shares_its_line_is_refused() -> None:
    masked = mask("struct A { int f() { return 1; } int g; };\n", "A::f", "cpp")
    with pytest.raises(MaskingError, match="shares a line"):
        ways("cpp").path(masked.context, masked.gap)


METHOD = "winner(size) {\n    return `x\ny`;\n}\n"


@pytest.mark.parametrize(
    ("written", "has"),
    [
        (METHOD, "  winner(size) {\n      return `x\ny`;\n  }\n"),
        (
            "const K = 1;\nclass Board {\n  winner() {\n    return K;\n  }\n}\n",
            "  winner() {\n    return K;\n  }\n",
        ),
        (
            "Here:\n```js\nfunction winner(size) {\n    return 1;\n}\n```\nbye",
            "  winner(size) {\n      return 1;\n  }\n",
        ),
        ("return 5;", "  winner(size = 3) {\n      return 5;\n  }\n"),
    ],
)
def test_an_answer_is_found_wherever_it_stands(written: str, has: str) -> None:
    masked = mask(JAVASCRIPT, "Board.winner", "javascript", tests=("test_a", "test_b"))
    made = ways("javascript").assemble(
        masked.context, masked.gap, Answer(written, 'const fs = require("fs");')
    )
    assert has in made.program
    assert made.function_found
    assert made.program.index("require") < made.program.index("class Board")
    assert len(made.lines) == made.program.count("\n")


def test_what_the_context_requires_is_not_required_again() -> None:
    source = 'const fs = require("fs");\n\nfunction f() {\n  return 1;\n}\n'
    masked = mask(source, "f", "javascript")
    answer = 'const fs = require("fs");\nconst path = require("path");\nfunction f() {\n  return 2;\n}\n'
    made = ways("javascript").assemble(masked.context, masked.gap, Answer(answer))
    assert made.program.count('require("fs")') == 1
    assert 'require("path")' in made.program


def test_what_does_not_parse_runs_as_it_stands_and_is_marked() -> None:
    masked = mask(CPP, "shop::merge", "cpp", tests=("test_a",))
    made = ways("cpp").assemble(masked.context, masked.gap, Answer("int merge( {\n  return 1;\n"))
    assert not made.function_found
    assert made.error is not None
    assert (made.error.region, made.error.line) == ("function", 1)
    assert "int merge( {\n" in made.program


def test_helpers_go_before_what_holds_the_function_and_are_warned_of() -> None:
    masked = mask(CPP, "shop::merge", "cpp", tests=("test_a",))
    code = "#include <map>\nvoid test_a() {}\nstd::vector<int> merge(const std::vector<int>& shifts, int pause) {\n    return {};\n}\n"
    made = ways("cpp").assemble(masked.context, masked.gap, Answer(code), tests=("test_a",))
    assert made.program.index("#include <map>") < made.program.index("namespace shop")
    assert made.warnings == ("`test_a` hides a name of the tests.",)


def test_tests_are_cut_behind_an_assertion() -> None:
    masked = mask(JAVASCRIPT, "Board.winner", "javascript", tests=("test_a", "test_b"))
    part = ways("javascript").visible_part(test_source(masked.tests), masked.expected, count=1)
    assert part.expected == ("test_a",)
    assert part.text.rstrip().endswith("assert.equal(board.winner(), null);\n}")
    assert (part.count, part.total) == (1, 3)


def test_places_in_what_node_and_the_compiler_say_are_the_authors() -> None:
    masked = mask(JAVASCRIPT, "Board.winner", "javascript", tests=("test_a", "test_b"))
    made = ways("javascript").assemble(masked.context, masked.gap, Answer(METHOD))
    line = made.program[: made.program.index("return `x")].count("\n") + 1
    said = f"TypeError: no\n    at Board.winner (solution.js:{line}:7)\n    at test_a (tests.js:3:1)\n"
    assert "(your solution, line 2)" in map_traceback(said, made.lines)
    assert [(mark.line, mark.message) for mark in error_lines(said, made.lines)] == [(2, "TypeError: no")]
    said = f"solution.js:{line}\n    return (\n\nSyntaxError: Unexpected end\n"
    assert [(mark.line, mark.message) for mark in error_lines(said, made.lines)] == [
        (2, "SyntaxError: Unexpected end")
    ]
    said = f"solution.cpp: In function 'f':\nsolution.cpp:{line}:3: error: expected ';'\n"
    assert [(mark.line, mark.message) for mark in error_lines(said, made.lines)] == [(2, "expected ';'")]
    assert "your solution, line 2: error" in map_traceback(said, made.lines)


def changed(record: Record, **other: Any) -> dict[str, Any]:
    item = as_item(record)
    del item["content_hash"]
    return {**item, **other}


@pytest.mark.parametrize(
    ("other", "field"),
    [
        ({"block": "test_a();"}, "block"),
        ({"reference": "if (x) {"}, "reference"),
        ({"expected": ["test_nowhere"]}, "expected"),
        ({"language": "cobol"}, "language"),
        ({"focal_name": "other"}, "focal_name"),
        ({"gap": 1}, "gap"),
    ],
)
def test_a_record_that_cannot_be_run_is_refused(other: dict[str, Any], field: str) -> None:
    for language in ("javascript", "cpp"):
        record = next(iter(records(language)))
        with pytest.raises(RecordInvalid) as caught:
            parse(changed(record, **other))
        assert caught.value.field == field


def test_an_unknown_language_has_no_ways() -> None:
    with pytest.raises(LanguageUnknown, match="python, javascript, cpp"):
        ways("cobol")


def test_an_export_for_python_harnesses_leaves_other_languages_out() -> None:
    assert humaneval.line(Version(language="cpp")) == ""


@pytest.mark.django_db
@pytest.mark.parametrize(("language", "name"), [("python", "plain"), ("javascript", "node"), ("cpp", "cpp")])
def test_a_record_goes_to_an_environment_of_its_language(language: str, name: str) -> None:
    assert Environments().choose((), language=language).name == name
    assert Environments().choose(("nowhere",), named="science", language=language).language == language
