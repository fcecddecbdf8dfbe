"""The program's process: loads the program, then receives the tests and runs them. Standard library only."""

from __future__ import annotations

import ast
import inspect
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from io import TextIOWrapper
from json import loads
from os import getpid
from time import perf_counter
from types import CodeType, ModuleType
from typing import Any

from runner.languages.python.inside.network import NetworkWatch
from runner.languages.python.inside.reporter import Reporter
from runner.languages.python.inside.texts import (
    BLOCK_FILE,
    PROGRAM_FILE,
    TESTS_FILE,
    bounded,
    remember,
    told,
)

Namespace = dict[str, Any]
REHEARSALS = 30
LOCATED = (ast.stmt, ast.expr, ast.excepthandler, ast.arg, ast.keyword, ast.alias, ast.pattern)


def play(job: dict[str, Any], key: bytes, rows: int, tests: int) -> None:
    """Load the job's program, fetch the tests from their pipe, run them; never returns."""
    reporter = Reporter(rows, key)
    watch = NetworkWatch(reporter.say)
    if job["watch_network"]:
        sys.addaudithook(watch)
    hide_ourselves()
    namespace = main_module()
    process = getpid()
    error = load(job["program"], namespace)
    if getpid() != process:
        os._exit(0)  # a copy the program made of itself ends with the program: there is one set of tests
    if error:
        reporter.say(load_error=error)
        leave(1)
    flush()
    reporter.say(loaded=True)
    with open(tests, "rb") as pipe:
        nonce, sheet = pipe.read(32), pipe.read()
    if not sheet:
        os._exit(1)
    reporter.renew(nonce, revealed=job["revealed"])
    watch.open()
    leave(run_tests(sheet, namespace, reporter))


def rehearse(program: str, sheet: bytes) -> None:
    """Do a few times, in the process that others will be forked from, what each of them does first.

    The interpreter writes into code that it runs until it knows what to make of it, and a fork that writes to a page
    copies it.
    """
    silent = os.open(os.devnull, os.O_WRONLY)
    for _ in range(REHEARSALS):
        reporter = Reporter(silent, bytes(32))
        namespace: Namespace = {"__builtins__": sys.modules["builtins"]}
        load(program, namespace)
        reporter.say(loaded=True)
        reporter.renew(bytes(32), revealed=False)
        run_tests(sheet, namespace, reporter)
    os.close(silent)


def hide_ourselves() -> None:
    """Take our modules out of the program's way."""
    for name in [name for name in sys.modules if name.startswith("runner.")]:
        del sys.modules[name]


def main_module() -> Namespace:
    """Return the namespace of a fresh `__main__`, as a script would have it."""
    module = ModuleType("__main__")
    module.__file__ = f"/work/{PROGRAM_FILE}"
    module.__dict__["__builtins__"] = sys.modules["builtins"]
    sys.modules["__main__"] = module
    sys.argv = [PROGRAM_FILE]
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(line_buffering=True)  # what was printed before a kill is seen
    os.chdir("/work")
    return module.__dict__


def load(program: str, namespace: Namespace) -> str:
    """Execute the program in the namespace; return "" or what went wrong, a traceback of its own lines."""
    remember(PROGRAM_FILE, program)
    try:
        code = compile(program.removeprefix("\ufeff"), PROGRAM_FILE, "exec", dont_inherit=True)
        exec(code, namespace)
    except SystemExit as error:
        return f"The program left while it was being loaded: SystemExit({error.code!r:.80})"
    except BaseException as error:
        return bounded(told(error))
    return ""


def run_tests(sheet: bytes, namespace: Namespace, reporter: Reporter) -> int:
    """Define the tests and run them, by the published block or one by one; return the exit status."""
    told_by_host = loads(sheet)
    reporter.namespace = namespace
    namespace[told_by_host["name"]] = reporter
    if reporter.revealed:
        remember(TESTS_FILE, told_by_host["text"])
        remember(BLOCK_FILE, told_by_host["block_text"])
    try:
        code = compiled(told_by_host["source"], told_by_host["lines"], TESTS_FILE)
        block = compiled(told_by_host["block"], told_by_host["block_lines"], BLOCK_FILE)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        reporter.say(tests_error=bounded(told(error)) if reporter.revealed else "The tests do not compile.")
        return 1
    status = guarded(lambda: exec(code, namespace))
    if status is not None:
        return status
    if told_by_host["scratch"]:
        return run_scratch(told_by_host["block_text"], namespace)
    if told_by_host["block"]:
        return guarded(lambda: exec(block, namespace)) or 0
    for test in told_by_host["run"]:
        drive(test, namespace, reporter)
    return 0


def compiled(source: str, lines: list[int], filename: str) -> CodeType:
    """Return the code of an instrumented text, with the line numbers of the text it was made from, if they are told."""
    if not lines:
        return compile(source, filename, "exec", dont_inherit=True)
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, LOCATED):
            node.lineno = node.end_lineno = lines[node.lineno - 1]
            node.col_offset = node.end_col_offset = 0
    return compile(tree, filename, "exec", dont_inherit=True)


def guarded(run: Callable[[], None]) -> int | None:
    """Run; return None at a normal end, else the exit status after the traceback has been printed."""
    try:
        run()
    except SystemExit as error:
        if error.code is None or isinstance(error.code, int):
            return (error.code or 0) & 255
        print(error.code, file=sys.stderr)
        return 1
    except BaseException as error:
        print(told(error), file=sys.stderr, end="")
        return 1
    return None


def run_scratch(snippet: str, namespace: Namespace) -> int:
    """Run an author's snippet like a console: the value of a last expression is printed."""
    remember(BLOCK_FILE, snippet)

    def run() -> None:
        tree = ast.parse(snippet, BLOCK_FILE)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, BLOCK_FILE, "exec", dont_inherit=True), namespace)
        if isinstance(last, ast.Expr):
            code = compile(ast.Expression(last.value), BLOCK_FILE, "eval", dont_inherit=True)
            value = eval(code, namespace)  # noqa: S307 - running the author's own code is what this process is for
            if value is not None:
                print(repr(value))

    return guarded(run) or 0


def drive(test: str, namespace: Namespace, reporter: Reporter) -> None:
    """Call one test function without arguments and wait for it; what escapes its body is recorded here."""
    began = perf_counter()
    try:
        result = found(test, namespace)()
        if inspect.isawaitable(result):
            import asyncio

            asyncio.run(awaited(result))
        elif inspect.isgenerator(result):
            for _ in result:
                pass
    except BaseException as error:
        if reporter.revealed and not isinstance(error, SystemExit):
            print(told(error), file=sys.stderr, end="")
        reporter.ended(test, error, milliseconds=(perf_counter() - began) * 1000)


def found(test: str, namespace: Namespace) -> Callable[[], Any]:
    """Return the test function with this id; `Class.method` is bound to a fresh object of the class."""
    owner, _, method = test.rpartition(".")
    if not owner:
        function: Callable[[], Any] = namespace[test]
        return function
    kind = namespace[owner]
    return kind(method).debug if hasattr(kind, "debug") else getattr(kind(), method)  # type: ignore[no-any-return]


async def awaited(result: Any) -> None:
    """Wait for anything that can be awaited, inside a loop."""
    await result


def leave(status: int) -> None:
    """End this process at once, with what was printed; exit handlers of the program have no say."""
    flush()
    os._exit(status)


def flush() -> None:
    """Send on what was printed; a stream the program broke has nothing left to say."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(BaseException):
            stream.flush()
