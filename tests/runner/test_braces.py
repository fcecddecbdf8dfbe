"""The outline of JavaScript and C++ by brackets, and JSON-style cases; pure."""

from __future__ import annotations

import json

import pytest

from runner.languages import canary_plan, language
from runner.languages.braces.outline import functions, outline
from runner.languages.braces.statements import planned, statements
from runner.languages.braces.tokens import Dialect, SourceBroken, Span, tokens
from runner.languages.cases import CaseInvalid, Json, cases_of, for_box, is_cases
from runner.sandbox.base import Job, Limits

JAVASCRIPT = """"use strict";
const PATTERN = /[{}]\\/"/g, AREA = `a ${ {deep: `}`}.deep } }`;
/** Makes a slug.
 */
function slug(title, given = {}) {
  if (/[{]/.test(title)) { return 1 }
  return title / 2 / 3;
}
const add = (a, b) => { return a + b; };
async function* numbers() { yield 1 }
class Board extends Map {
  #cells = [];
  static make() { return new Board() }
  // who won
  winner(at = {}) { return null }
  get width() { return 1 }
}
module.exports = { slug };
"""
CPP = """#include <vector>
#define BRACE(a) { a
namespace shop {
enum class Kind { a, b };
struct Shift { int end = {3}; bool operator<(const Shift& o) const { return end < o.end; } };
template <typename T>
class Stack final : public Base<T> {
 public:
  explicit Stack(int n) : items_{}, n_(n) { items_.reserve(n); }
  ~Stack() {}
  // pops
  T pop() const noexcept { return items_.back(); }
  std::map<std::string, std::vector<int>> all(std::function<int(int)> f) { return {}; }
 private:
  std::vector<T> items_{1, 2};
};
}  // namespace shop
static const int table[] = {1, 2, 3};
auto lambda = [](int x) { return x; };
std::vector<int> merge(const std::vector<int>& v, char c = '{', long n = 1'000) {
  return R"x(})x"[0] ? v : v;
}
int Board::winner() const { return 0; }
auto trailing(int x) -> std::vector<int> { return {x}; }
"""


def paths(text: str, dialect: Dialect) -> list[str]:
    return ["/".join(path) for path, _ in functions(outline(text, dialect))]


def test_functions_of_javascript_are_found_where_they_stand() -> None:
    found = ["slug", "add", "numbers", "Board/make", "Board/winner", "Board/width"]
    assert paths(JAVASCRIPT, "javascript") == found
    winner = dict(functions(outline(JAVASCRIPT, "javascript")))["Board", "winner"]
    assert JAVASCRIPT[winner.note : winner.end] == "// who won\n  winner(at = {}) { return null }"


def test_functions_of_cpp_are_found_where_they_stand() -> None:
    inside = [
        "shop/Shift/operator<",
        "shop/Stack/Stack",
        "shop/Stack/~Stack",
        "shop/Stack/pop",
        "shop/Stack/all",
    ]
    assert paths(CPP, "cpp") == [*inside, "merge", "Board/winner", "trailing"]
    pop = dict(functions(outline(CPP, "cpp")))["shop", "Stack", "pop"]
    assert CPP[pop.note : pop.open] == "// pops\n  T pop() const noexcept "


@pytest.mark.parametrize(
    ("text", "dialect", "line"),
    [("f(\n{)", "javascript", 2), ("int f() {\n", "cpp", 1), ("}\n", "cpp", 1), ('"}\n}', "javascript", 2)],
)
def test_brackets_that_do_not_match_are_said_with_their_line(text: str, dialect: Dialect, line: int) -> None:
    with pytest.raises(SourceBroken) as caught:
        tokens(text, dialect)
    assert caught.value.line == line


def cut(body: str, dialect: Dialect) -> list[str]:
    text = f"void f() {{{body}}}"
    return [text[span.start : span.end] for span in statements(text, dialect, Span(10, len(text) - 1))]


def test_statements_of_javascript_end_with_a_semicolon_or_their_line() -> None:
    body = "a()\nconst x = [1,\n 2]\nfor (const y of x) b(y)\nif (x)\n  c()\nelse d(); try { e() } catch { g() } finally {}\nx\n  .h()\n"
    assert cut(body, "javascript") == [
        "a()",
        "const x = [1,\n 2]",
        "for (const y of x) b(y)",
        "if (x)\n  c()\nelse d();",
        "try { e() } catch { g() } finally {}",
        "x\n  .h()",
    ]


def test_statements_of_cpp_end_with_a_semicolon_or_their_block() -> None:
    body = " int x{1}; auto f = [] { return 1; }; do { x++; } while (x < 3); for (;;) { x--; } // no ; here\n{ y(); } struct S { int a; } s; "
    assert cut(body, "cpp") == [
        "int x{1};",
        "auto f = [] { return 1; };",
        "do { x++; } while (x < 3);",
        "for (;;) { x--; }",
        "{ y(); }",
        "struct S { int a; } s;",
    ]


def test_assertions_are_planned_with_number_and_lines() -> None:
    tests = "void test_a() {\n  int x = 1;\n  assert(x ==\n    1);\n  for (;;) { assert(x); }\n}\nvoid test_b() { assert_throws(E, f()); g(); }\n"
    found = planned(tests, "cpp", ("test_a", "test_b"))
    assert found["test_a"] == [(1, 3, 4), (2, 5, 5)]
    assert found["test_b"] == [(1, 7, 7)]
    assert planned("function test_a() { assert(1) }}", "javascript", ("test_a",)) == {}


CASES = """{"test": "t", "call": "f", "args": [1], "expected": 2}

{"test": "u", "call": "A.f", "args": [], "expected": [1.5], "comparator": "approx", "tolerance": 0.1}
{"test": "t", "call": "f", "args": ["s3cr3t?"], "expected": "s3cr3t!", "comparator": "exact"}
"""


def test_cases_are_numbered_within_their_test() -> None:
    found = cases_of(CASES)
    assert [(each.test, each.number, each.line) for each in found] == [("t", 1, 1), ("u", 1, 3), ("t", 2, 4)]
    assert found[0].shown == "f(1) is 2"
    assert found[1].comparator.name == "approx(0.1)"
    assert is_cases(CASES)
    assert not is_cases("function test_a() {}")
    assert not is_cases("{ const x = 1 }")


@pytest.mark.parametrize(
    "line",
    [
        "no json",
        '{"test": "t"}',
        CASES.splitlines()[0].replace("f", "f(1)"),
        CASES.splitlines()[0].replace("[1]", "1"),
        CASES.splitlines()[2].replace("approx", "about"),
        CASES.splitlines()[2].replace("0.1", '"x"'),
    ],
)
def test_a_line_that_is_no_case_is_named(line: str) -> None:
    with pytest.raises(CaseInvalid) as caught:
        cases_of(CASES.splitlines()[0] + "\n" + line)
    assert caught.value.line == 2


@pytest.mark.parametrize(
    ("kind", "expected", "got", "holds"),
    [
        ("json", 2, "2", True),
        ("json", 2, "2.0", True),
        ("json", 1, "true", False),
        ("json", True, "1", False),
        ("json", None, "null", True),
        ("json", 0, "null", False),
        ("json", {"a": [1, "é"]}, '{"a":[1,"\\u00e9"]}', True),
        ("json", {"a": 1}, '{"a":1,"b":2}', False),
        ("json", [1, 2], "[1]", False),
        ("json", "x", '"x', False),
        ("json", [], "[" * 100_000, False),
        ("json", float("nan"), "NaN", True),
        ("exact", 2, "2.0", False),
        ("exact", 2.0, "2.0", True),
        ("approx", 1.0, "1.0000000001", True),
        ("approx", [1e6], "[1000000.0001]", True),
        ("approx", 1.0, "1.1", False),
        ("approx", 1.0, "NaN", False),
        ("approx", "a", '"b"', False),
    ],
)
def test_values_are_compared_by_name(kind: str, expected: object, got: str, holds: bool) -> None:
    comparator = Json(expected, kind, 1e-9 if kind == "approx" else 0.0)
    assert comparator.holds(f"json {got}") is holds
    assert comparator.holds(f"other {got}") is False


@pytest.mark.parametrize("name", ["javascript", "cpp"])
def test_what_a_case_expects_stays_outside_of_the_box(name: str) -> None:
    prepared = language(name).prepare(Job("", CASES, ("t", "u"), Limits.for_cpu(1), language=name))
    sheet = prepared.payload(("t", "u"))
    assert b"s3cr3t?" in sheet.replace(b"\\\\077", b"?").replace(b"\\\\", b"\\").replace(b"\\077", b"?")
    assert b"s3cr3t!" not in sheet
    assert b"s3cr3t!" not in sheet.replace(b"\\041", b"!")
    assert [(each.test, each.assertion, each.certain) for each in prepared.planned] == [
        ("t", 1, True),
        ("u", 1, True),
        ("t", 2, True),
    ]
    assert all(each.comparator for each in prepared.planned)


def test_of_cases_only_what_is_still_to_be_run_is_told() -> None:
    assert list(for_box(cases_of(CASES), ("u",))) == ["u"]
    assert json.dumps(for_box(cases_of(CASES), ("u",))).count("expected") == 0


def test_canaries_make_the_expected_side_wrong() -> None:
    tests = "void test_a() {\n  assert(f(1) == 2);\n  assert(ok());\n  assert(f(2) != 3);\n  assert(s == \"a\");\n  assert(c == 'x');\n}\n"
    plan = canary_plan(Job("", tests, ("test_a",), Limits.for_cpu(1), language="cpp"))
    changed = [tests[: each.start] + each.text + tests[each.end :] for each in plan.candidates]
    lines = [
        text.splitlines()[canary.line - 1].strip()
        for text, canary in zip(changed, plan.candidates, strict=True)
    ]
    assert lines == [
        "assert(f(1) == (2 + 1));",
        'assert(s == "a" "?");',
        "assert(c == ('x' + 1));",
        "assert(!(ok()));",
        "assert(!(f(2) != 3));",
    ]
    script = "function test_a() {\n  assert.equal(f('a'), 'b');\n  assert.deepEqual(f(1), [true]);\n  assert(f() === null);\n  assert.throws(() => f(), Error);\n}\n"
    plan = canary_plan(Job("", script, ("test_a",), Limits.for_cpu(1), language="javascript"))
    assert [each.text for each in plan.candidates] == ["('b' + \"?\")", "false", "0"]


def test_cases_need_no_canary() -> None:
    for name in ("javascript", "cpp"):
        assert not canary_plan(Job("", CASES, ("t", "u"), Limits.for_cpu(1), language=name)).needed
