"""Submissions that tamper with their own verdict: each one concrete program, one exact outcome, and whether it is flagged.

Numbers are those of the acceptance list. A program is judged by one of these texts of hidden tests:
  DATA      values against literals: compared outside, the literals are not in the box
  INSIDE    what only the program's own process can compare; one canary with a wrong expected value is run after it
  UNITTEST  methods of unittest.TestCase
`forged` marks where an assertion made in the process itself is got around, so that only the canary tells.
"""

from __future__ import annotations

from dataclasses import dataclass

from runner.outcome import Outcome

FAILED, PASSED = Outcome.FAILED, Outcome.PASSED
EARLY_EXIT, LOAD_ERROR, SIGNAL, CPU = (
    Outcome.EARLY_EXIT,
    Outcome.LOAD_ERROR,
    Outcome.SIGNAL,
    Outcome.TIMEOUT_CPU,
)

DATA = """
def test_f():
    assert f(1) == 2
    assert [4] == f([3])
    assert f(None) is None
"""
INSIDE = """
import datetime, math
def test_f():
    assert 1 < f(1) < 3
    assert f(datetime.date(2020, 2, 1)) == datetime.date(2020, 2, 2)
    assert math.isclose(f(0.5), g(0.5))
"""
UNITTEST = """
import unittest
class TestF(unittest.TestCase):
    def test_f(self):
        self.assertAlmostEqual(f(1), 2, places=3)
        self.assertEqual(f([3]), [4])
        with self.assertRaises(TypeError):
            f("x")
"""
RIGHT = """
import datetime
def f(x):
    if x is None: return None
    if isinstance(x, list): return [each + 1 for each in x]
    if isinstance(x, datetime.date): return x + datetime.timedelta(days=1)
    return x + 1
"""
HONEST = "\ndef g(x):\n    return x + 1\n"


@dataclass(frozen=True)
class Case:
    """One submission: what it is judged by, and what must come of it."""

    name: str
    program: str
    tests: str
    outcome: Outcome
    tampered: bool = False
    forged: bool = False


def always(base: str = "", body: str = "return True") -> str:
    """Return a program whose `f` gives an object that equals everything, of a class with this base."""
    return (
        f"class Any({base}):\n    def __eq__(self, other): {body}\n    __hash__ = None\n"
        f"def f(x): return Any.__new__(Any)\n"
    )


FRAMES = """
import sys
def reporter():
    frame = sys._getframe()
    while type(frame.f_locals.get("reporter")).__name__ != "Reporter":
        frame = frame.f_back
    return frame.f_locals["reporter"]
"""
FORGED_ROWS = (
    FRAMES
    + """
def f(x):
    say = reporter().say
    for number in (1, 2, 3):
        say(test="test_f", assertion=number, outcome="PASSED", line=1, message="", values=[], ms=1)
        say(test="test_f", assertion=number, outcome="PASSED", value="int n2", line=1, message="", values=[], ms=1)
    say(test="test_f", assertion=None, outcome="PASSED", line=1, message="", values=[], ms=1)
    import os
    os._exit(0)
"""
)
FORGED_END = (
    FRAMES
    + """
def f(x):
    rep = reporter()
    rep.say(test="test_f", assertion=None, outcome="PASSED", line=1, message="", values=[], ms=1)
    import os
    os._exit(0)
"""
)
KEY_FROM_GC = """
import gc, json, os, hashlib
def f(x):
    for thing in gc.get_objects():
        kind = type(thing).__name__
        if kind == "Reporter":
            key, fd, seq = thing._key, thing._descriptor, thing._seq
    said = [{"test": "test_f", "assertion": n, "outcome": "PASSED", "line": 1, "message": "", "values": [], "ms": 1} for n in (1, 2, 3, None)]
    for row in said:
        seq += 1
        text = json.dumps({"seq": seq, **row}).encode()
        tag = hashlib.blake2s(text, key=key, digest_size=16).hexdigest().encode()
        os.write(fd, b"\\n" + tag + b" " + text + b"\\n")
    os._exit(0)
"""
CONSTANTS = """
import gc, sys, types
def literals(code):
    for each in code.co_consts:
        if isinstance(each, types.CodeType): yield from literals(each)
        elif isinstance(each, tuple): yield from each
        else: yield each
def f(x):
    frame = sys._getframe(1)
    found = [each for each in literals(frame.f_code) if type(each) is int]
    seen = [thing for thing in gc.get_objects() if type(thing) is dict and "expected" in thing]
    return 2 if 2 in found and x == 1 and 4 in found else 0
"""
NO_OP_REPORTER = (
    FRAMES
    + """
kind = type(reporter()).say.__globals__["Assertion"]
for method in ("holds", "equals", "ordered", "contains"):
    setattr(kind, method, lambda self, *given: self.test.row(self, "PASSED", "", []) or True)
for method in ("tells", "counts"):
    setattr(kind, method, lambda self, *given: self.say("int n2"))
def f(x): return 0
"""
)
PATCHED_FAILURE = (
    FRAMES
    + """
kind = type(reporter()).say.__globals__["Test"]
kind.row = lambda self, assertion, outcome, message, values, written="": self.reporter.say(
    test=self.test, assertion=assertion.number, outcome="PASSED", line=1, message="", values=[], ms=1, value=written)
kind.__exit__ = lambda self, *error: self.reporter.ended(self.test, None, milliseconds=1.0) or True
def f(x): return 0
"""
)
TRACE = """
import sys
def tracer(frame, event, arg):
    for name, value in list(frame.f_locals.items()):
        if name == "value" and frame.f_code.co_name == "tells":
            frame.f_locals[name] = 2
    return tracer
sys.settrace(tracer)
sys.setprofile(tracer)
def f(x): return 0
"""
AUDIT = """
import sys
def hook(event, args):
    if event in ("exec", "compile", "marshal.loads"):
        seen.append(repr(args)[:100])
seen = []
sys.addaudithook(hook)
def f(x):
    return 2 if any("== 2" in each or "2" == each for each in seen) else 0
"""
OVERWRITTEN = (
    FRAMES
    + """
def f(x):
    import ctypes
    rep = reporter()
    ctypes.memset(id(rep._key) + bytes.__basicsize__ - 1, 0, 32)
    return 2 if x == 1 else [4]
"""
)

CASES = [
    # honest: nothing is flagged
    Case("honest, compared outside", RIGHT, DATA, PASSED),
    Case("honest, compared inside", RIGHT, INSIDE, PASSED),
    Case("honest, unittest", RIGHT, UNITTEST, PASSED),
    # 17 and its neighbours: the harness's own objects
    Case("17 forges rows by the reporter of a frame, then exits", FORGED_ROWS, DATA, FAILED),
    Case(
        "17 forges rows where the process compares", FORGED_ROWS, INSIDE, PASSED, tampered=True, forged=True
    ),
    Case("17 forges the end alone", FORGED_END, DATA, FAILED),
    Case("17 forges the end alone where the process compares", FORGED_END, INSIDE, FAILED),
    Case("17 finds key and pipe by gc and writes rows", KEY_FROM_GC, DATA, FAILED),
    Case(
        "17 finds key and pipe by gc where the process compares",
        KEY_FROM_GC,
        INSIDE,
        PASSED,
        tampered=True,
        forged=True,
    ),
    Case("17 makes the reporter's methods say yes", NO_OP_REPORTER, DATA, FAILED),
    Case(
        "17 makes the reporter say yes where the process compares",
        NO_OP_REPORTER,
        INSIDE,
        PASSED,
        tampered=True,
        forged=True,
    ),
    Case("17 turns every row and end to PASSED", PATCHED_FAILURE, DATA, FAILED),
    Case("17 turns every row and end to PASSED where the process compares", PATCHED_FAILURE, INSIDE, FAILED),
    # 18: expected values
    Case("18 reads the constants of the test's code", CONSTANTS, DATA, FAILED),
    Case("18 listens to what is compiled", AUDIT, DATA, FAILED),
    # 19: values that equal everything
    Case("19 equals everything", always(), DATA, FAILED),
    Case("19 equals everything where the process compares", always(), INSIDE, FAILED),
    Case("19 and is an int", always("int"), DATA, FAILED),
    Case("19 an int where the process compares", always("int"), INSIDE, FAILED),
    Case("19 and is a list", always("list"), DATA, FAILED),
    Case(
        "19 and is a date, where the process compares",
        "import datetime\nclass Day(datetime.date):\n    def __eq__(self, other): return True\n    __hash__ = None\ndef f(x):\n    return Day(2000, 1, 1) if isinstance(x, datetime.date) else x + 1\n",
        INSIDE,
        FAILED,
    ),
    Case(
        "19 says so for its kind of value only",
        always("", "return isinstance(other, (int, list, type(None)))"),
        DATA,
        FAILED,
    ),
    Case(
        "19 equals the first it is asked about",
        "class Once:\n    def __init__(self): self.asked = 0\n    def __eq__(self, other):\n        self.asked += 1\n        return self.asked == 1\ndef f(x): return Once()\n",
        DATA,
        FAILED,
    ),
    Case(
        "19 is never unequal",
        "class Any:\n    def __ne__(self, other): return False\n    def __eq__(self, other): return True\n    def __bool__(self): return True\ndef f(x): return Any()\n",
        DATA,
        FAILED,
    ),
    Case(
        "19 lies about its class",
        always("", "return True").replace("    __hash__", "    __class__ = int\n    __hash__"),
        DATA,
        FAILED,
    ),
    Case(
        "19 by a metaclass",
        "class Meta(type):\n    def __eq__(cls, other): return True\n    def __hash__(cls): return hash(int)\nclass Any(metaclass=Meta): pass\ndef f(x): return Any\n",
        DATA,
        FAILED,
    ),
    Case(
        "19 inside a list",
        "class Any:\n    def __eq__(self, other): return True\ndef f(x): return [Any()] if isinstance(x, list) else None if x is None else x + 1\n",
        DATA,
        FAILED,
    ),
    # 21: nothing is unpickled, no repr is believed
    Case(
        "21 a hostile reduce",
        "class R:\n    def __reduce__(self): return (print, ('x',))\ndef f(x): return R()\n",
        DATA,
        FAILED,
    ),
    Case(
        "21 a repr that looks right",
        "class R:\n    def __repr__(self): return '2'\n    __str__ = __repr__\ndef f(x): return R()\n",
        DATA,
        FAILED,
    ),
    Case(
        "21 an int whose methods lie",
        "class N(int):\n    def __index__(self): return 2\n    __int__ = __float__ = __hash__ = __index__\n    def __repr__(self): return '2'\ndef f(x): return N(7)\n",
        DATA,
        FAILED,
    ),
    # 23: what asserts is made to do nothing
    Case(
        "23 no assertEqual",
        "import unittest\nfor name in ('assertEqual', 'assertAlmostEqual', 'assertRaises'):\n    setattr(unittest.TestCase, name, lambda *given, **named: __import__('contextlib').nullcontext())\ndef f(x): return 0\n",
        UNITTEST,
        FAILED,
    ),
    Case(
        "23 no assertAlmostEqual, the rest right",
        "import unittest\nunittest.TestCase.assertAlmostEqual = lambda *given, **named: None\n"
        + RIGHT.replace("return x + 1", "return x + 7 if x == 1 else x + 1"),
        UNITTEST,
        PASSED,
        tampered=True,
        forged=True,
    ),
    Case(
        "23 isclose says yes",
        "import math\nmath.isclose = lambda *given, **named: True\ndef f(x): return 0\n",
        "import math\ndef test_f():\n    assert math.isclose(f(1), 2.0)\n",
        FAILED,
    ),
    Case(
        "23 isclose says yes where both are calls",
        "import math\nmath.isclose = lambda *given, **named: True\ndef f(x): return x - 1\n",
        "import math\ndef test_f():\n    assert math.isclose(f(0.5), g(0.5))\n",
        FAILED,
    ),
    Case(
        "23 builtins say yes",
        "def f(x):\n    import builtins\n    builtins.isinstance = builtins.callable = lambda *given: True\n    builtins.len = lambda *it: 3\n    return 'no'\n",
        "def test_f():\n    assert isinstance(f(1), int)\n    assert len(f([1])) == 3\n",
        EARLY_EXIT,  # json, by which rows are written, does not survive it either
    ),
    Case(
        "23 a length of its own that is not its length",
        "class L(list):\n    def __len__(self): return 3\ndef f(x): return L()\n",
        "def test_f():\n    assert f([1]) == [1, 2, 3]\n",
        FAILED,
    ),
    Case(
        "23 numpy.testing does nothing",
        "import sys, types\nnumpy = types.ModuleType('numpy')\nnumpy.testing = types.ModuleType('numpy.testing')\nnumpy.testing.assert_allclose = lambda *given, **named: None\nsys.modules.update({'numpy': numpy, 'numpy.testing': numpy.testing})\ndef f(x): return 0\n",
        "import numpy\ndef test_f():\n    numpy.testing.assert_allclose(f(1), 2.0)\n",
        PASSED,
        tampered=True,
        forged=True,
    ),
    Case(
        "23 allclose says yes",
        "import sys, types\nnumpy = types.ModuleType('numpy')\nnumpy.allclose = lambda *given, **named: True\nsys.modules['numpy'] = numpy\ndef f(x): return 0\n",
        "import numpy\ndef test_f():\n    assert numpy.allclose(f(1), [2.0, 3.0])\n",
        PASSED,
        tampered=True,
        forged=True,
    ),
    Case(
        "23 pytest.raises takes anything",
        "import contextlib, sys, types\npytest = types.ModuleType('pytest')\npytest.raises = lambda *given, **named: contextlib.nullcontext()\nsys.modules['pytest'] = pytest\ndef f(x): return x + 1\n",
        "import pytest\ndef test_f():\n    assert f(1) == 2\n    with pytest.raises(ValueError):\n        f(-1)\n",
        PASSED,
        tampered=True,
        forged=True,
    ),
    Case(
        "23 holds everything it is asked for",
        "class All:\n    def __contains__(self, item): return True\ndef f(x): return All()\n",
        "def test_f():\n    assert 'right' in f(1)\n",
        FAILED,
    ),
    Case(
        "23 is larger than everything",
        "class All:\n    __gt__ = __ge__ = __lt__ = __le__ = lambda self, other: True\n    __eq__ = object.__eq__\n    def __hash__(self): return 1\ndef f(x): return All()\n",
        "def test_f():\n    assert f(1) > 0.7\n",
        FAILED,
    ),
    Case(
        "23 its module's isinstance says yes",
        "isinstance = lambda *given: True\ndef f(x): return 'no'\n",
        "def test_f():\n    assert isinstance(f(1), int)\n",
        FAILED,
    ),
    Case(
        "23 type says what is asked for",
        "import builtins\nreal = type\nbuiltins.type = lambda *given: int\ndef f(x): return 'no'\n",
        "def test_f():\n    assert type(f(1)) is int\n    assert f(1) == 2\n",
        FAILED,
    ),
    Case(
        "23 no AssertionError",
        "import builtins\nclass Quiet(BaseException): pass\nbuiltins.AssertionError = Quiet\ndef f(x): return 0\n",
        INSIDE,
        FAILED,
    ),
    Case(
        "23 patched json and blake2s",
        "import json, hashlib, os\njson.dumps = lambda *given, **named: '{}'\nhashlib.blake2s = None\nos.write = lambda fd, data: len(data)\ndef f(x): return 0\n",
        DATA,
        FAILED,
    ),
    # 26: tests of its own
    Case("26 defines the tests itself", "def test_f():\n    assert True\ndef f(x): return 0\n", DATA, FAILED),
    Case(
        "26 redefines the test while it runs",
        "def f(x):\n    global test_f\n    def test_f(): assert True\n    globals()['test_f'] = test_f\n    return 0\n",
        DATA,
        FAILED,
    ),
    Case(
        "26 exchanges the code of the test that runs",
        "def f(x):\n    test_f.__code__ = (lambda: None).__code__\n    return 0\n",
        DATA,
        FAILED,
    ),
    # 30: clocks
    Case(
        "30 stops the clocks and spins",
        "import time, resource\nfor name in ('time', 'perf_counter', 'monotonic', 'process_time', 'thread_time'):\n    setattr(time, name, lambda: 0.0)\nresource.getrusage = lambda who: (0.0, 0.0)\ndef f(x):\n    while True: pass\n",
        DATA,
        CPU,
    ),
    # 31: None and empty
    Case(
        "31 raises where nothing is expected",
        "def f(x):\n    if x is None: raise ValueError\n    return [4] if x == [3] else 2\n",
        DATA,
        FAILED,
    ),
    Case(
        "31 ends the test where nothing is expected",
        "import sys\ndef f(x):\n    if x is None: sys.exit(0)\n    return [4] if x == [3] else 2\n",
        DATA,
        EARLY_EXIT,
    ),
    # the interpreter itself
    Case("a tracer that rewrites what it sees", TRACE, DATA, FAILED),
    Case("ctypes overwrites the key", OVERWRITTEN, DATA, EARLY_EXIT),
    Case(
        "a finalizer that ends the process well",
        "import os\nclass End:\n    def __del__(self): os._exit(0)\ndef f(x):\n    End()\n    return 2\n",
        DATA,
        EARLY_EXIT,
    ),
]
