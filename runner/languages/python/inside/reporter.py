"""Writes the rows of a test as it runs, on a pipe of their own, each with the proof that it is authentic.

Standard library only. Everything the reporter needs is bound when it is loaded, so a program that patches `json`,
`os` or `time` for good (real tests do) does not stop it. It cannot keep code of the same interpreter from reading
its key: that is what the canary is for, and why what a value should be is not told here where the host can compare
(sandbox.md, e.4 to e.6).
"""

from __future__ import annotations

import builtins
import math
import operator
import sys
from _blake2 import blake2s
from collections.abc import Callable
from contextlib import suppress
from json import dumps
from os import getpid, urandom, write
from reprlib import Repr
from time import perf_counter
from types import TracebackType
from typing import Any

from runner.languages.python.inside.plain import decoys, hint, written
from runner.languages.python.inside.texts import PROGRAM_FILE, TESTS_FILE, line_of, told

ROW_BYTES = 3800  # below PIPE_BUF with tag and line ends, so that one write is one row
VALUE_CHARS = 400
ORDERS: dict[str, Callable[[Any, Any], Any]] = {
    "lt": operator.lt,
    "lte": operator.le,
    "gt": operator.gt,
    "gte": operator.ge,
}
# How often a value with an `__eq__` of its own is asked, in random order, besides once for each wrong value.
GUESSES = 16
# No honest module hides these; others (`from numpy import *` hides sum, any and abs) mean what the module says.
NEVER_HIDDEN = ("isinstance", "issubclass", "type", "len", "callable", "hasattr", "getattr")
BUILTINS: dict[str, Callable[..., Any]] = {
    **builtins.__dict__,
    **{f"math.{name}": value for name, value in math.__dict__.items()},
}


def shown(value: object) -> str:
    """Return a bounded repr; a hostile `__repr__` yields a note instead."""
    try:
        text = str(_BOUNDED.repr(value))
        return text if len(text) <= VALUE_CHARS else text[: VALUE_CHARS - 3] + "..."
    except BaseException:
        return "<a value whose repr failed>"


def described(error: BaseException) -> str:
    """Return `Type: text` of an exception, bounded; a hostile `__str__` yields the type alone.

    Where it came out of the program, ` (solution.py, line 12)` follows, so that the author is shown the line.
    """
    name = str(type.__getattribute__(type(error), "__name__"))
    try:
        text = str.__str__(str(error))[:VALUE_CHARS]
    except BaseException:
        text = ""
    said = f"{name}: {text}" if text else name
    line = line_of(BaseException.__dict__["__traceback__"].__get__(error), PROGRAM_FILE)
    return f"{said} ({PROGRAM_FILE}, line {line})" if line else said


def _bounded_repr() -> Repr:
    bounded = Repr()
    bounded.maxlevel = 5
    bounded.maxdict = bounded.maxlist = bounded.maxtuple = bounded.maxset = bounded.maxfrozenset = 40
    bounded.maxstring = bounded.maxlong = bounded.maxother = VALUE_CHARS
    return bounded


_BOUNDED = _bounded_repr()


class Reporter:
    """Stands in the tests' namespace under a random name; what the instrumentation calls."""

    def __init__(self, descriptor: int, key: bytes) -> None:
        self._descriptor = descriptor
        self._key = key
        self._seq = 0
        self._process = getpid()
        self._active: list[Test] = []
        self.revealed = False
        self.namespace: dict[str, Any] = {}

    def renew(self, key: bytes, *, revealed: bool) -> None:
        """Go on under the nonce that came with the tests."""
        self._key, self._seq, self.revealed = key, 0, revealed

    def say(self, **facts: Any) -> None:
        """Write one authentic row; a copy of the process that the program forked has nothing to say."""
        if getpid() != self._process:
            return
        self._seq += 1
        payload = dumps({"seq": self._seq, **facts}).encode()
        while len(payload) > ROW_BYTES:
            facts = {name: _halved(value) for name, value in facts.items()}
            payload = dumps({"seq": self._seq, **facts}).encode()
        tag = blake2s(payload, key=self._key, digest_size=16).hexdigest().encode()
        write(self._descriptor, b"\n" + tag + b" " + payload + b"\n")

    def test(self, test: str, assertions: int) -> Test:
        """Return the context in which a test function's body runs; `assertions` is how many it holds itself."""
        return Test(self, test, assertions)

    def builtin(self, name: str) -> Callable[..., Any]:
        """Return a built-in function as it was before the program, or what the program's module calls by its name."""
        ours = BUILTINS[name]
        return ours if name in NEVER_HIDDEN or "." in name else self.namespace.get(name, ours)

    def at(self, number: int, line: int) -> Assertion:
        """Return the n-th assertion outside all test functions, as part of the test that is running."""
        if not self._active:
            return Assertion(None, number, line)
        test = self._active[-1]
        return test.at(test.assertions + number, line)

    def enter(self, test: Test) -> None:
        self._active.append(test)

    def leave(self, test: Test) -> None:
        if test in self._active:
            self._active.remove(test)

    def ended(
        self, test: str, error: BaseException | None, *, milliseconds: float, line: int | None = None
    ) -> None:
        """Write the completion record of a test function, for its normal end or for what ended it."""
        left = issubclass(
            type(error), SystemExit
        )  # an object may claim to be of another class, not to be of another type
        outcome = "PASSED" if error is None else "EARLY_EXIT" if left else "FAILED"
        message = described(error) if error is not None and self.revealed else ""
        # Whether confinement may be the reason: then a sample is run again where it is closed in less tightly.
        denied = {"denied": True} if issubclass(type(error), PermissionError) else {}
        self.say(
            test=test,
            assertion=None,
            outcome=outcome,
            line=line,
            message=message,
            values=[],
            ms=milliseconds,
            **denied,
        )


def _halved(value: Any) -> Any:
    if isinstance(value, list):
        return [_halved(item) for item in value]
    return value[: len(value) // 2] if isinstance(value, str) and len(value) > 40 else value


def tell(error: BaseException) -> None:
    """Print the traceback of what ended a test, where the program left somewhere to print it."""
    with suppress(Exception):
        print(told(error), file=sys.stderr, end="")


class Test:
    """A test function while its body runs; swallows what ends it, so that a published block goes on."""

    def __init__(self, reporter: Reporter, test: str, assertions: int) -> None:
        self.reporter, self.test, self.assertions = reporter, test, assertions
        self.open: Assertion | None = None
        self.failure: AssertionError | None = None
        self.reported: set[tuple[int, str, str]] = set()
        self.began = 0.0

    def __enter__(self) -> Test:
        self.reporter.say(begin=self.test)
        self.reporter.enter(self)
        self.began = perf_counter()
        return self

    def __exit__(self, kind: Any, error: BaseException | None, trace: TracebackType | None) -> bool:
        self.reporter.leave(self)
        spent = (perf_counter() - self.began) * 1000
        if error is not None and error is not self.failure and self.reporter.revealed:
            tell(error)
        if error is not None and self.open is not None:
            self.row(self.open, "FAILED", described(error) if self.reporter.revealed else "", [])
        self.reporter.ended(self.test, error, milliseconds=spent, line=line_of(trace, TESTS_FILE))
        return True

    def at(self, number: int, line: int) -> Assertion:
        """Return the n-th assertion of this test, about to be evaluated."""
        self.open = Assertion(self, number, line)
        return self.open

    def row(
        self, assertion: Assertion, outcome: str, message: str, values: list[str], written: str = ""
    ) -> None:
        """Write an assertion's row, once for each outcome or value it comes to."""
        self.open = None
        if (assertion.number, outcome, written) in self.reported:
            return
        self.reported.add((assertion.number, outcome, written))
        spent = (perf_counter() - self.began) * 1000
        self.reporter.say(
            test=self.test,
            assertion=assertion.number,
            outcome=outcome,
            line=assertion.line,
            message=message,
            values=values,
            ms=spent,
            **({"value": written} if written else {}),
        )


class Nobody:
    """Equals nothing and is in nothing but by a lie."""


def _equal(one: Any, other: Any, wanted: bool) -> bool:
    """Return whether both are equal; where they should not be, failing to compare says as much."""
    try:
        return bool(one == other)
    except Exception:
        if wanted:
            raise
        return False


class Assertion:
    """One assertion while it is evaluated: notes its operands, says how it came out."""

    __slots__ = ("line", "number", "operands", "test", "value")

    def __init__(self, test: Test | None, number: int, line: int) -> None:
        self.test, self.number, self.line = test, number, line
        self.operands: dict[int, Any] = {}
        self.value: Any = None

    def of(self, place: int, value: Any) -> Any:
        """Note an operand of the comparison and hand it on."""
        self.operands[place] = value
        return value

    def tells(self, value: Any, key: str = "", bits: int = 0, expected: int = 0) -> None:
        """Say what the value is; whether that is right is not known here.

        A few bits of what it should be let most wrong values end the test, as a failed assertion does.
        """
        said = written(value)
        self.say(said)
        if bits and hint(said.partition(" ")[2], key, bits) != expected and not said.startswith("opaque "):
            raise self.failed()

    def counts(self, value: Any) -> None:
        """Say whether the value counts as true; whether it should is not known here."""
        self.say("truth 1" if value else "truth 0")

    def say(self, value: str) -> None:
        """Write the row of an assertion that is compared outside."""
        if self.test is not None:
            self.test.row(self, "PASSED", "", [], value)

    def equals(self, left: Any, right: Any) -> bool:
        """Return whether both sides are equal, where the process itself must compare.

        A side with an `__eq__` of its own is asked, in an order it cannot know, about the other side and about values
        that are wrong, and must tell them apart.
        """
        self.operands = {0: left, 1: right}
        own = [written(side).startswith("opaque ") for side in (left, right)]
        if not any(own):
            return self.holds(left == right)
        wrong: list[object] = [Nobody()]
        with suppress(Exception):
            wrong += [] if all(own) else decoys(right if own[0] else left)
        asked = [(left, right, True)]
        asked += [(left, other, False) for other in wrong if own[0]]
        asked += [(other, right, False) for other in wrong if own[1]]
        order = [0 if byte & 1 else byte % len(asked) for byte in urandom(GUESSES)]
        for one, other, wanted in [*(asked[place] for place in order), *asked]:
            if _equal(one, other, wanted) is not wanted:
                return self.holds(False)
        return self.holds(True)

    def ordered(self, left: Any, right: Any, name: str) -> bool:
        """Return whether both sides are in that order; a side of its own kind must know what is beyond every number."""
        self.operands = {0: left, 1: right}
        order = ORDERS[name]
        there = order(left, right)
        own = [written(side).startswith("opaque ") for side in (left, right)]
        beyond = math.inf if name.startswith("gt") else -math.inf
        with suppress(Exception):
            if own == [True, False] and isinstance(right, (int, float)):
                there = there and not order(left, beyond)
            elif own == [False, True] and isinstance(left, (int, float)):
                there = there and not order(-beyond, right)
        return self.holds(there)

    def contains(self, item: Any, container: Any) -> bool:
        """Return whether the item is in the container, which must not hold what nobody has put there."""
        self.operands = {0: item, 1: container}
        there = item in container
        with suppress(Exception):
            there = there and Nobody() not in container
        return self.holds(there)

    def holds(self, value: Any) -> bool:
        """Return whether the assertion holds; a row says so if it does."""
        self.value = value
        if not value:
            return False
        if self.test is not None:
            self.test.row(self, "PASSED", "", [])
        return True

    def failed(self, *message: Any) -> AssertionError:
        """Return the error to raise for an assertion that does not hold, after its row."""
        test = self.test
        if test is not None:
            revealed = test.reporter.revealed
            operands = [*self.operands.values()][:8] or ([] if isinstance(self.value, bool) else [self.value])
            values = [shown(value) for value in operands] if revealed else []
            test.row(self, "FAILED", _text(message) if revealed else "", values)
        failure = AssertionError(*message)
        if test is not None:
            test.failure = failure
        return failure


def _text(message: tuple[Any, ...]) -> str:
    """Return an assertion's own message as text, bounded."""
    if not message:
        return ""
    return message[0][:VALUE_CHARS] if isinstance(message[0], str) else shown(message[0])
