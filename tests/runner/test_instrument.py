"""Instrumentation: what a test text becomes, run here in this interpreter with the reporter the box uses."""

from __future__ import annotations

import ast
import asyncio
import json
import os
import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from runner.languages.python import parsing
from runner.languages.python.inside.child import compiled
from runner.languages.python.inside.reporter import Reporter
from runner.languages.python.inside.texts import TESTS_FILE
from runner.languages.python.instrument import Instrumented, instrument

SAMPLE = Path(__file__).parents[3] / "shared/data/exec_csn_sample.json"
KEY = b"k" * 32


def run(tests: str, expected: tuple[str, ...], block: str = "", context: str = "") -> list[dict[str, Any]]:
    """Run instrumented texts and return the rows they wrote, without the begin records."""
    made = instrument(tests, block, expected)
    read, write = os.pipe()
    reporter = Reporter(write, KEY)
    reporter.revealed = True
    namespace: dict[str, Any] = {"__name__": "__main__", made.name: reporter}
    try:
        exec(context, namespace)
        exec(compiled(made.tests.source, made.tests.lines, TESTS_FILE), namespace)
        if block:
            exec(compiled(made.block.source, made.block.lines, TESTS_FILE), namespace)
        else:
            for test in expected:
                result = namespace[test]()
                if asyncio.iscoroutine(result):
                    asyncio.run(result)
    finally:
        os.close(write)
    with open(read, "rb") as pipe:
        lines = [line.partition(b" ")[2] for line in pipe.read().split(b"\n") if line]
    return [row for row in map(json.loads, lines) if "begin" not in row]


def told(rows: list[dict[str, Any]]) -> list[tuple[str, int | None, str]]:
    return [(row["test"], row["assertion"], row["outcome"]) for row in rows]


def test_every_assertion_and_the_end_of_a_function_report_in_order() -> None:
    rows = run("def test_a():\n    assert 1 == 1\n    x = 2\n    assert x\n", ("test_a",))
    assert told(rows) == [("test_a", 1, "PASSED"), ("test_a", 2, "PASSED"), ("test_a", None, "PASSED")]
    assert [row["line"] for row in rows] == [2, 4, None]


def test_a_failing_comparison_brings_both_values_its_message_and_its_line() -> None:
    rows = run(
        "def test_a():\n\n    assert sorted([3, 1]) == [3], 'not sorted'\n    assert True\n", ("test_a",)
    )
    assert told(rows) == [("test_a", 1, "FAILED"), ("test_a", None, "FAILED")]
    assert rows[0]["values"] == ["[1, 3]", "[3]"]
    assert (rows[0]["message"], rows[0]["line"]) == ("not sorted", 3)
    assert (rows[1]["message"], rows[1]["line"]) == ("AssertionError: not sorted", 3)


def test_a_chained_comparison_evaluates_each_operand_once_and_stops_early() -> None:
    tests = (
        "def test_a():\n    seen = []\n    def f(x):\n        seen.append(x)\n        return x\n"
        "    try:\n        assert f(1) < f(0) < f(9)\n    except AssertionError:\n        pass\n"
        "    assert seen == [1, 0]\n"
    )
    rows = run(tests, ("test_a",))
    assert rows[0]["values"] == ["1", "0"]
    assert told(rows)[1:] == [("test_a", 2, "PASSED"), ("test_a", None, "PASSED")]


@pytest.mark.parametrize(
    "body",
    [
        "    assert (n := 5) == 5\n    assert n == 5\n",
        "    assert all(x for x in [1, 2]), f'{1}'\n    assert not []\n",
        "    assert 'a' in {'a': 1} and (lambda: 1)() is not None\n    assert 1 if True else 0\n",
        "    class C:\n        def m(self):\n            assert self is not None\n    C().m()\n    assert True\n",
        "    def inner(x):\n        assert x\n    inner(1)\n    assert f'{inner!r:>3}'\n",
        '    """A docstring\n    over lines."""\n    assert 1\n    assert 2\n',
        "    for i in range(3):\n        assert i < 3\n    else:\n        assert True\n",
        "    with open('/dev/null') as f:\n        assert f\n        assert f.read() == ''\n    return 7\n",
        "    global GLOBAL\n    GLOBAL = 1\n    assert GLOBAL == 1; assert True\n",
    ],
)
def test_assertions_of_every_form_keep_their_meaning(body: str) -> None:
    rows = run("def test_a():\n" + body, ("test_a",))
    assert told(rows) == [("test_a", 1, "PASSED"), ("test_a", 2, "PASSED"), ("test_a", None, "PASSED")]


def test_a_coroutine_with_await_in_the_assertion_reports() -> None:
    tests = "async def one():\n    return 1\nasync def test_a():\n    assert await one() == 1\n    assert (await one()) < 1\n"
    rows = run(tests, ("test_a",))
    assert told(rows) == [("test_a", 1, "PASSED"), ("test_a", 2, "FAILED"), ("test_a", None, "FAILED")]
    assert rows[1]["values"] == ["1", "1"]


def test_a_generator_under_a_decorator_reports_when_it_ends() -> None:
    tests = (
        "def drive(f):\n    def run():\n        for _ in f():\n            pass\n    return run\n"
        "@drive\ndef test_a():\n    x = yield 1\n    assert x is None\n    assert (yield 2) is None\n"
    )
    rows = run(tests, ("test_a",))
    assert told(rows) == [("test_a", 1, "PASSED"), ("test_a", 2, "PASSED"), ("test_a", None, "PASSED")]


def test_an_assertion_in_a_helper_reports_to_the_test_that_calls_it() -> None:
    tests = "def same(a, b):\n    assert a == b\ndef test_a():\n    assert True\n    same(1, 1)\ndef test_b():\n    same(1, 2)\n"
    rows = run(tests, ("test_a", "test_b"))
    assert ("test_a", 2, "PASSED") in told(rows)
    assert ("test_b", 1, "FAILED") in told(rows)
    assert ("test_b", None, "FAILED") in told(rows)


def test_an_exception_fails_the_function_with_its_line_and_the_block_goes_on() -> None:
    tests = "def test_a():\n    assert True\n    1 / 0\ndef test_b():\n    assert True\n"
    rows = run(tests, ("test_a", "test_b"), block="test_a()\ntest_b()\n")
    assert told(rows)[1:] == [("test_a", None, "FAILED"), ("test_b", 1, "PASSED"), ("test_b", None, "PASSED")]
    assert (rows[1]["message"], rows[1]["line"]) == ("ZeroDivisionError: division by zero", 3)


@pytest.mark.parametrize("error", ["KeyboardInterrupt", "GeneratorExit", "type('E', (BaseException,), {})"])
def test_any_exception_fails_the_function(error: str) -> None:
    rows = run(f"def test_a():\n    raise {error}()\n", ("test_a",))
    assert told(rows) == [("test_a", None, "FAILED")]


def test_leaving_is_an_early_exit_of_that_function() -> None:
    rows = run("def test_a():\n    assert exit\n    raise SystemExit(0)\n", ("test_a",))
    assert told(rows)[-1] == ("test_a", None, "EARLY_EXIT")


def test_an_exception_inside_an_assertion_fails_that_assertion() -> None:
    rows = run("def test_a():\n    assert [][1] == 2\n", ("test_a",))
    assert told(rows) == [("test_a", 1, "FAILED"), ("test_a", None, "FAILED")]
    assert rows[0]["message"] == "IndexError: list index out of range"


def test_hostile_values_cannot_break_a_row() -> None:
    context = (
        "class Bad:\n    def __repr__(self): raise SystemExit\n    def __eq__(self, other): return False\n"
        "class Long:\n    def __repr__(self): return 'x' * 10**6\n    def __eq__(self, other): return False\n"
        "class Mute(Exception):\n    def __str__(self): raise MemoryError\n"
    )
    tests = "def test_a():\n    assert Bad() == Long()\ndef test_b():\n    raise Mute\n"
    rows = run(tests, ("test_a", "test_b"), context=context)
    assert rows[0]["values"][0] == "<a value whose repr failed>"
    assert len(rows[0]["values"][1]) == 400
    assert rows[-1]["message"] == "Mute"


def test_long_messages_outside_ascii_still_fit_one_row() -> None:
    rows = run(
        "def test_a():\n    assert '\u2603' * 5000 == '\u2603' * 4999, '\U0001f600' * 3000\n", ("test_a",)
    )
    assert told(rows) == [("test_a", 1, "FAILED"), ("test_a", None, "FAILED")]


def test_a_loop_reports_an_assertion_once_for_each_outcome() -> None:
    rows = run("def test_a():\n    for i in range(500):\n        assert i < 400\n", ("test_a",))
    assert told(rows) == [("test_a", 1, "PASSED"), ("test_a", 1, "FAILED"), ("test_a", None, "FAILED")]


def test_a_block_with_assertions_is_a_test_when_it_is_expected() -> None:
    rows = run("", ("__main__",), block="assert 1 == 1\nassert 2 == 3\n")
    assert told(rows) == [("__main__", 1, "PASSED"), ("__main__", 2, "FAILED"), ("__main__", None, "FAILED")]


def test_a_method_is_a_test_by_its_dotted_name() -> None:
    tests = "class TestA:\n    def test_m(self):\n        assert self\n"
    rows = run(tests, ("TestA.test_m",), block="TestA().test_m()")
    assert told(rows) == [("TestA.test_m", 1, "PASSED"), ("TestA.test_m", None, "PASSED")]


def test_a_function_nobody_expects_is_a_helper() -> None:
    made = instrument("def test_a():\n    assert 1\ndef test_b():\n    assert 1\n", "", ("test_a",))
    assert [planned.test for planned in made.planned] == ["test_a"]


def test_names_are_fresh_each_time_and_never_those_of_the_text() -> None:
    tests = "def test_a():\n    assert 1\n"
    first, second = instrument(tests, "", ("test_a",)), instrument(tests, "", ("test_a",))
    assert first.name != second.name
    assert first.tests.source.replace(first.name, second.name) == second.tests.source


def test_a_text_that_does_not_parse_is_passed_on_as_it_is() -> None:
    assert instrument("def test_a(:\n", "", ("test_a",)).tests.source == "def test_a(:\n"


def test_several_threads_may_instrument_at_once() -> None:
    """CPython's own parser fails here now and then without the lock, see runner/languages/python/parsing.py."""
    texts = [
        "def test_a():\n" + "".join(f"    assert [{n}, ({k}, {{{k}: {n}}})]\n" for k in range(300))
        for n in range(40)
    ]
    with ThreadPoolExecutor(4) as threads:
        made = list(threads.map(lambda text: instrument(text, "", ("test_a",)), texts))
    assert all(len(one.planned) == 300 for one in made)


def test_parsing_outlasts_a_spurious_fault_and_keeps_a_true_one(monkeypatch: pytest.MonkeyPatch) -> None:
    faults = [SystemError("AST constructor recursion depth mismatch")] * 3
    true_parse = ast.parse

    def now_and_then(source: str, filename: str) -> ast.Module:
        if faults:
            raise faults.pop()
        return true_parse(source, filename)

    monkeypatch.setattr(parsing.ast, "parse", now_and_then)
    assert len(parsing.parse("x = 1").body) == 1
    with pytest.raises(SyntaxError):
        parsing.parse("x = ")


def records() -> list[dict[str, Any]]:
    return json.loads(SAMPLE.read_text()) if SAMPLE.exists() else []


def parts(record: dict[str, Any]) -> tuple[str, str, str, tuple[str, ...]]:
    """Return context with reference, tests, block and the expected ids of an Exec-CSN record."""
    code = record["code"]
    tree = ast.parse(code)
    lines = code.splitlines(keepends=True)
    program, tests, block, expected = list(lines), "", "", []
    for node in tree.body:
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
        text = "".join(lines[first - 1 : node.end_lineno])
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name.startswith("test"):
            tests += text + "\n"
            expected.append(node.name)
        elif isinstance(node, ast.If) and "__main__" in ast.unparse(node.test):
            block += text + "\n"
        else:
            continue
        program[first - 1 : node.end_lineno] = ["\n"] * (node.end_lineno - first + 1)
    return "".join(program), tests, block, tuple(expected)


@pytest.mark.skipif(not SAMPLE.exists(), reason="shared/data is not beside this repository")
@pytest.mark.parametrize("record", records(), ids=lambda record: str(record["idx"]))
def test_a_real_test_keeps_its_lines_and_gains_a_report_for_each_assertion(record: dict[str, Any]) -> None:
    _, tests, block, expected = parts(record)
    made = instrument(tests, block, expected)
    asserts = [node.lineno for node in ast.walk(ast.parse(tests)) if isinstance(node, ast.Assert)]
    assert sorted(planned.line for planned in made.planned) == sorted(asserts)
    assert not [node for node in ast.walk(ast.parse(made.tests.source)) if isinstance(node, ast.Assert)]
    assert mapped(made) <= {node.lineno for node in ast.walk(ast.parse(tests)) if isinstance(node, ast.stmt)}


def mapped(made: Instrumented) -> set[int]:
    """Return the original lines a sample of the new statements points to."""
    statements = [node for node in ast.walk(ast.parse(made.tests.source)) if isinstance(node, ast.stmt)]
    picked = random.Random(1).sample(statements, min(20, len(statements)))
    return {made.tests.lines[node.lineno - 1] for node in picked}
