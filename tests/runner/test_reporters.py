"""The reporters of JavaScript and C++ by themselves, without a box: where node and g++ are on this machine.

What holds them in is tried in boxes by `make drill ARGS=languages`.
"""

from __future__ import annotations

import fcntl
import os
import select
import shutil
import traceback
from pathlib import Path
from typing import Any

import pytest

from runner.languages import language
from runner.languages.base import Prepared
from runner.languages.cpp.inside import child as cpp_child
from runner.languages.cpp.profile import _harness
from runner.languages.inside import handing
from runner.languages.javascript.inside import child as javascript_child
from runner.languages.javascript.profile import HERE
from runner.sandbox.base import Job, Limits
from runner.sandbox.inside.streams import Rows

SECONDS = 120
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="no node on this machine")
needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="no g++ on this machine")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let children work in a directory of this test, with the tools of this machine."""
    monkeypatch.setattr(handing, "WORK", str(tmp_path))
    monkeypatch.setattr(javascript_child, "NODE", shutil.which("node"))
    monkeypatch.setattr(javascript_child, "REPORTER", (HERE / "reporter.js").read_text())
    monkeypatch.setattr(cpp_child, "COMPILER", shutil.which("g++"))
    monkeypatch.setattr(cpp_child, "HARNESS", _harness())
    return tmp_path


def played(
    name: str, program: str, tests: str, expected: tuple[str, ...], *, block: str = "", revealed: bool = True
) -> list[dict[str, Any]]:
    """Run a job as the supervisor would, and return the authentic rows."""
    job = Job(program, tests, expected, Limits.for_cpu(5), block=block, revealed=revealed, language=name)
    prepared: Prepared = language(name).prepare(job)
    rows = Rows()
    found: list[dict[str, Any]] = []
    (read_rows, write_rows), (read_tests, write_tests) = os.pipe(), os.pipe()
    pid = os.fork()
    if pid == 0:
        _become(name, job, rows.key, write_rows, read_tests)
    os.close(write_rows)
    os.close(read_tests)
    try:
        while select.select([read_rows], [], [], SECONDS)[0]:
            data = os.read(read_rows, 1 << 16)
            if not data:
                return found
            for row in rows.feed(data):
                found.append(row)
                if "loaded" in row:
                    os.write(write_tests, rows.renew() + prepared.payload(expected))
                    os.close(write_tests)
        raise AssertionError(f"no row within {SECONDS} s; there were {found}")
    finally:
        os.close(read_rows)
        os.waitpid(pid, 0)


def _become(name: str, job: Job, key: bytes, rows: int, tests: int) -> None:
    """Become the program's process, with nothing of pytest's open; never returns."""
    try:
        null = os.open(os.devnull, os.O_RDWR)
        for end in (0, 1, 2):
            os.dup2(null, end)
        rows, tests = (fcntl.fcntl(end, fcntl.F_DUPFD, 500) for end in (rows, tests))
        os.closerange(3, rows)
        # A long session has many open, and among them our own end of the tests.
        os.closerange(tests + 1, 4096)
        child = javascript_child if name == "javascript" else cpp_child
        child.play(
            {"program": job.program, "revealed": job.revealed, "watch_network": False}, key, rows, tests
        )
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(9)


def told(rows: list[dict[str, Any]], *names: str) -> list[tuple[Any, ...]]:
    return [tuple(row.get(name) for name in names) for row in rows if "outcome" in row]


JAVASCRIPT = "function f(x) { return x + 1 }\nconst none = null;\nfunction bad() { return none.x }\n"


@needs_node
def test_node_reports_each_assertion_with_its_number_line_and_values(here: Path) -> None:
    tests = "function test_a() {\n  assert.equal(f(1), 2);\n  assert(f(2) === 3);\n  assert.deepEqual([f(1)], [3]);\n  assert(false);\n}\nasync function test_b() {\n  await null;\n  assert.throws(\n    () => bad(), TypeError);\n  bad();\n}\n"
    rows = played("javascript", JAVASCRIPT, tests, ("test_a", "test_b", "test_c"))
    assert told(rows, "test", "assertion", "outcome", "line") == [
        ("test_a", 1, "PASSED", 2),
        ("test_a", 2, "PASSED", 3),
        ("test_a", 3, "FAILED", 4),
        ("test_a", None, "FAILED", 4),
        ("test_b", 1, "PASSED", 9),
        ("test_b", None, "FAILED", 11),
        ("test_c", None, "FAILED", None),
    ]
    assert [row["values"] for row in rows if row.get("assertion") == 3] == [["[ 2 ]", "[ 3 ]"]]
    assert rows[-3]["message"].endswith("(solution.js, line 3)")


@needs_node
def test_of_hidden_tests_node_says_outcomes_only(here: Path) -> None:
    rows = played(
        "javascript",
        JAVASCRIPT,
        "function test_a() {\n  assert.equal(f('s3cr3t'), 's3cr3t');\n}\n",
        ("test_a",),
        revealed=False,
    )
    assert told(rows, "outcome") == [("FAILED",), ("FAILED",)]
    assert "s3cr3t" not in str(rows)


@needs_node
def test_values_of_cases_leave_node_as_json(here: Path) -> None:
    tests = '{"test": "t", "call": "g", "args": ["\\u00e9"], "expected": 1}\n{"test": "t", "call": "g", "args": [[1, {"a": null}]], "expected": 1}\n'
    program = "function g(x) { return { got: x, nan: NaN, minus: -0, half: 0.5 } }\n"
    rows = played("javascript", program, tests, ("t",), revealed=False)
    assert [row["value"] for row in rows if "value" in row] == [
        'json {"got":"\\u00e9","nan":NaN,"minus":-0.0,"half":0.5}',
        'json {"got":[1,{"a":null}],"nan":NaN,"minus":-0.0,"half":0.5}',
    ]
    rows = played("javascript", "function g(x) { return new Map() }\n", tests, ("t",))
    assert told(rows, "assertion", "outcome") == [(1, "FAILED"), (None, "FAILED")]


@needs_node
def test_what_node_cannot_load_is_said_at_the_authors_line(here: Path) -> None:
    rows = played("javascript", "let x = 1\nlet y = ;\n", "", ("test_a",))
    assert rows[0]["load_error"].startswith("solution.js:2\n")
    assert "node:" not in rows[0]["load_error"]


CPP = '#include <vector>\n#include <stdexcept>\n#define assert(x) ((void)0)\n#define row nothing\nstd::vector<int> f(std::vector<int> v) { if (v.empty()) throw std::invalid_argument("empty"); v.push_back(1); return v; }\nint main() { return 3; }\n'


@needs_compiler
def test_a_built_program_reports_each_assertion_with_its_number_line_and_values(here: Path) -> None:
    tests = "void test_a() {\n  assert(f({1}) == std::vector<int>{1, 1});\n  assert(f({1}).size() == 2 &&\n    true);\n  assert(f({2})[0] == 3);\n}\nvoid test_b() {\n  assert_throws(std::invalid_argument, f({}));\n  f({});\n}\n"
    rows = played("cpp", CPP, tests, ("test_a", "test_b"))
    assert rows[1]["built"] > 0
    assert [entry[:3] for entry in told(rows, "test", "assertion", "outcome")] == [
        ("test_a", 1, "PASSED"),
        ("test_a", 2, "PASSED"),
        ("test_a", 3, "FAILED"),
        ("test_a", None, "FAILED"),
        ("test_b", 1, "PASSED"),
        ("test_b", None, "FAILED"),
    ]
    assert [row["values"] for row in rows if row.get("assertion") == 3] == [["2", "3"]]
    assert rows[-1]["message"] == "an exception: empty"
    assert list(here.iterdir()) == []


@needs_compiler
def test_values_of_cases_leave_a_built_program_as_json(here: Path) -> None:
    program = "#include <map>\n#include <optional>\n#include <string>\n#include <tuple>\n#include <vector>\nstd::map<std::string, std::tuple<double, bool, std::optional<int>>> g(std::vector<std::string>& names, int n) { std::map<std::string, std::tuple<double, bool, std::optional<int>>> m; for (auto& x : names) m[x] = {n / 2.0, n > 2, {}}; return m; }\n"
    tests = '{"test": "t", "call": "g", "args": [["a\\n", "\\u00e9"], 3], "expected": 1}\n{"test": "t", "call": "g", "args": [[], 2.5], "expected": 1}\n'
    rows = played("cpp", program, tests, ("t",))
    assert [row["value"] for row in rows if "value" in row] == [
        'json {"a\\u000a":[1.5,true,null],"\\u00e9":[1.5,true,null]}'
    ]
    assert rows[-1]["message"] == "an exception: an argument is not a whole number"


@needs_compiler
def test_what_does_not_compile_is_the_programs_or_the_tests_fault(here: Path) -> None:
    rows = played(
        "cpp",
        "int f() {\n  return x;\n}\n",
        "void test_a() { assert(f() == 1); }",
        ("test_a",),
        revealed=False,
    )
    assert rows[1]["load_error"].splitlines()[1].startswith("solution.cpp:2:10: error: 'x' was not declared")
    rows = played("cpp", "int g() { return 1; }\n", "void test_a() { assert(f() == 1); }", ("test_a",))
    assert "tests.cpp:1:" in rows[1]["tests_error"]
    rows = played(
        "cpp", "int g() { return 1; }\n", "void test_a() { assert(f() == 1); }", ("test_a",), revealed=False
    )
    assert rows[1]["tests_error"] == "The tests do not compile."


ENDLESS = "template <int N, class... T> struct A : A<N - 1, T..., int>, A<N - 1, T..., char> {};\ntemplate <class... T> struct A<0, T...> {};\nA<22> a;\n"


@needs_compiler
def test_a_compilation_without_end_is_ended(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpp_child, "COMPILE_SECONDS", 1)
    rows = played("cpp", ENDLESS, "void test_a() {}", ("test_a",), revealed=False)
    assert rows[1]["load_error"] == cpp_child.TOO_LONG
