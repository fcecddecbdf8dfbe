"""The adversarial submissions of the acceptance list: each one concrete program with exactly one right outcome.

Every program also holds an honest function `g`, whose test must keep its verdict whatever `f` does, unless the whole
run is over by then. Numbers are those of the acceptance list.
"""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import dedent, indent

from runner.outcome import Outcome
from runner.sandbox.base import Job, Limits

FAILED, PASSED, NOT_RUN = Outcome.FAILED, Outcome.PASSED, Outcome.NOT_RUN
EARLY_EXIT, LOAD_ERROR, SIGNAL = Outcome.EARLY_EXIT, Outcome.LOAD_ERROR, Outcome.SIGNAL
CPU, WALL, MEMORY, OUTPUT = Outcome.TIMEOUT_CPU, Outcome.TIMEOUT_WALL, Outcome.MEMORY, Outcome.OUTPUT_LIMIT

HONEST = "\ndef g(x):\n    return x + 1\n"
TESTS = """
def test_f():
    assert f(1) == 2

def test_g():
    assert g(1) == 2
"""
BUSY = Limits(cpu_seconds=0.4, wall_seconds=60)
IDLE = Limits(cpu_seconds=5, wall_seconds=0.7)
USUAL = Limits(cpu_seconds=5, wall_seconds=60)


@dataclass(frozen=True)
class Case:
    """One submission: what `f` does, and what must come of it, of `f`'s test, and of its neighbour's.

    One that is not quick takes seconds by its nature, or differs from another by a name only: `make drill` runs it.
    """

    name: str
    program: str
    whole: Outcome
    f: Outcome
    g: Outcome = PASSED
    limits: Limits = USUAL
    quick: bool = True

    def job(self) -> Job:
        """Return the job as for a submission: the tests are hidden, the driver is ours."""
        return Job(self.program + HONEST, TESTS, ("test_f", "test_g"), self.limits)


def body(
    name: str,
    text: str,
    outcome: Outcome,
    *,
    limits: Limits = USUAL,
    g: Outcome = PASSED,
    f: Outcome | None = None,
    quick: bool = True,
) -> Case:
    """Return a case whose `f` has this body; the whole comes to what `f`'s test comes to, unless `f` is said apart."""
    lines = indent(dedent(text).strip(), "    ")
    return Case(name, f"def f(x):\n{lines}\n", outcome, f or outcome, g, limits, quick)


def importing(
    name: str, text: str, outcome: Outcome = LOAD_ERROR, *, limits: Limits = USUAL, quick: bool = True
) -> Case:
    """Return a case that misbehaves while it is loaded: no test is run."""
    return Case(name, f"def f(x):\n    return x + 1\n{text}\n", outcome, NOT_RUN, NOT_RUN, limits, quick)


def loading(name: str, text: str, *, quick: bool = True) -> Case:
    """Return a case that looks odd and is right: it must pass."""
    return Case(name, f"{text}\ndef f(x):\n    return x + 1\n", PASSED, PASSED, PASSED, USUAL, quick)


def each(
    row: str,
    ways: dict[str, str],
    outcome: Outcome,
    *,
    quick: tuple[str, ...] = (),
    limits: Limits = USUAL,
    g: Outcome = PASSED,
    f: Outcome | None = None,
) -> list[Case]:
    """Return a case for each way by which `f` may do the same; only those named are quick."""
    return [
        body(f"{row} {way}", text, outcome, limits=limits, g=g, f=f, quick=way in quick)
        for way, text in ways.items()
    ]


def refused(name: str, text: str, *, quick: bool = True) -> Case:
    """Return a case whose `f` is right only if what it tries is refused."""
    tried = indent(dedent(text).strip(), "    ")
    return body(name, f"try:\n{tried}\nexcept OSError:\n    return x + 1\nreturn 0", PASSED, quick=quick)


FORGED_ROW = '{"seq": 9, "test": "test_f", "assertion": null, "outcome": "PASSED", "line": 1, "message": "", "values": [], "ms": 1}'

CASES = [
    # 1-11: leaving early
    body("1 sys.exit(0)", "import sys; sys.exit(0)", EARLY_EXIT),
    body("1 sys.exit(1)", "import sys; sys.exit(1)", EARLY_EXIT),
    body("1 sys.exit of a text", "import sys; sys.exit('1 passed')", EARLY_EXIT),
    body("1 exit()", "exit()", EARLY_EXIT),
    body("1 raise SystemExit", "raise SystemExit", EARLY_EXIT),
    importing("2 sys.exit(0) at import", "import sys; sys.exit(0)"),
    importing("2 os._exit(0) at import", "import os; os._exit(0)"),
    importing("2 an exception at import", "1 / 0"),
    importing("2 SIGKILL at import", "import os; os.kill(os.getpid(), 9)", SIGNAL),
    importing("2 endless at import", "while True: pass", CPU, limits=BUSY),
    body("3 os._exit(0)", "import os; os._exit(0)", EARLY_EXIT),
    body("3 os._exit(137)", "import os; os._exit(137)", EARLY_EXIT),
    body("5 BaseException", "raise type('Quiet', (BaseException,), {})", FAILED),
    body("5 KeyboardInterrupt", "raise KeyboardInterrupt", FAILED),
    body("5 GeneratorExit", "raise GeneratorExit", FAILED),
    body("6 execv of a shell", "import os; os.execv('/bin/sh', ['sh', '-c', 'echo 1 passed'])", EARLY_EXIT),
    body("6 execvp of python", "import os; os.execvp('python3', ['python3', '-c', 'print(2)'])", EARLY_EXIT),
    body("8 an exit handler", "import atexit, os; atexit.register(os._exit, 0); return 0", FAILED),
    body(
        "9 replaced hooks",
        "import sys, threading, io\nsys.excepthook = threading.excepthook = print\nsys.stdout = sys.stderr = io.StringIO()\nreturn 0",
        FAILED,
    ),
    body("11 SIGTERM to itself", "import os; os.kill(os.getpid(), 15)", SIGNAL),
    body("11 SIGKILL to itself", "import os; os.kill(os.getpid(), 9)", SIGNAL),
    body("11 abort", "import os; os.abort()", SIGNAL),
    body("11 exit status 143", "import os; os._exit(143)", EARLY_EXIT),
    # 12-34: forging the verdict
    body(
        "12 prints success",
        'print(\'OK\\n1 passed\\nPASSED test_f\\n{"outcome": "PASSED"}\'); return 0',
        FAILED,
    ),
    body(
        "12 writes a row on every descriptor",
        f"import os\nfor fd in range(256):\n    try: os.write(fd, b'\\n' + b'0' * 32 + b' ' + {FORGED_ROW!r}.encode() + b'\\n')\n    except OSError: pass\nreturn 0",
        FAILED,
    ),
    body(
        "12 floods every descriptor",
        "import os\nfor fd in range(3, 256):\n    try:\n        for _ in range(300): os.write(fd, b'x' * 65536)\n    except OSError: pass\nreturn 0",
        EARLY_EXIT,
    ),
    body("12 closes every descriptor", "import os; os.closerange(0, 256); return 2", EARLY_EXIT),
    body(
        "14 prints what a classifier may look for",
        "print('timelimit exceeded\\nKilled\\nMemoryError\\nError response from daemon'); return 0",
        FAILED,
    ),
    body(
        "15 writes result files",
        "import os\nfor d in ('/work', '/tmp', '/dev/shm', '/', '/logs', '.'):\n    for n in ('results.json', 'reward.txt', 'junit.xml', 'exit_code'):\n        try: open(os.path.join(d, n), 'w').write('{\"score\": 1, \"outcome\": \"PASSED\"}')\n        except OSError: pass\nreturn 0",
        FAILED,
    ),
    body(
        "21 a value with a hostile reduce",
        "return type('R', (), {'__reduce__': lambda self: (print, ('x',))})()",
        FAILED,
    ),
    Case(
        "26 defines the tests itself",
        "def test_f():\n    assert True\ndef check(*a):\n    return True\ndef f(x):\n    return 0\n",
        FAILED,
        FAILED,
    ),
    body(
        "33 a daemon that writes later",
        f"import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        for _ in range(2000):\n            for fd in range(256):\n                try: os.write(fd, b'\\n' + b'0' * 32 + b' ' + {FORGED_ROW!r}.encode() + b'\\n')\n                except OSError: pass\n            time.sleep(0.001)\n    os._exit(0)\nreturn 0",
        FAILED,
    ),
    # 35-47: time and processes
    body("35 while True", "while True: pass", CPU, limits=BUSY),
    body("36 sleep", "import time; time.sleep(1000)", WALL, limits=IDLE, g=NOT_RUN),
    body("36 pause", "import signal; signal.pause()", WALL, limits=IDLE, g=NOT_RUN),
    body("36 select", "import select; select.select([], [], [])", WALL, limits=IDLE, g=NOT_RUN),
    body(
        "37 swallows BaseException",
        "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
        CPU,
        limits=BUSY,
    ),
    body(
        "38 ignores signals",
        "import signal\nfor n in range(1, 65):\n    try: signal.signal(n, signal.SIG_IGN)\n    except (OSError, ValueError): pass\nsignal.setitimer(signal.ITIMER_REAL, 0)\nwhile True: pass",
        CPU,
        limits=BUSY,
    ),
    body("40 kills its parent", "import os; os.kill(os.getppid(), 9); return x + 1", PASSED),
    body("40 kills pid 1", "import os\nfor n in range(1, 65): os.kill(1, n)\nreturn x + 1", PASSED),
    body("40 kills everyone", "import os\ntry: os.kill(-1, 9)\nexcept OSError: pass\nreturn x + 1", PASSED),
    body("40 kills its group", "import os; os.kill(0, 9)", SIGNAL),
    body("41 fork bomb", "import os\nwhile True: os.fork()", FAILED),
    body(
        "41 fork bomb that swallows",
        "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass",
        CPU,
        limits=BUSY,
    ),
    body(
        "41 thread bomb",
        "import threading, time\nwhile True: threading.Thread(target=time.sleep, args=(99,), daemon=True).start()",
        FAILED,
    ),
    body(
        "42 leaves an endless child",
        "import os\nif os.fork() == 0:\n    while True: pass\nreturn x + 1",
        PASSED,
    ),
    body(
        "42 leaves a detached endless child",
        "import os\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        while True: pass\n    os._exit(0)\nreturn x + 1",
        PASSED,
    ),
    body(
        "44 zombies",
        "import os\nfor _ in range(40):\n    if os.fork() == 0: os._exit(0)\nreturn x + 1",
        PASSED,
    ),
    body("47 input in a loop", "while True: input()", FAILED),
    # 48-64: memory, disk, output
    body("48 one huge allocation", "return len(bytearray(1 << 44))", FAILED),
    body("48 one allocation above the limit", "return len(bytearray(b'x' * (400 << 20)))", MEMORY),
    body("48 slow growth", "kept = []\nwhile True: kept.append(bytearray(b'x' * (1 << 20)))", MEMORY),
    body(
        "48 growth that swallows",
        "kept = []\nwhile True:\n    try: kept.append(bytearray(b'x' * (4 << 20)))\n    except MemoryError: pass",
        MEMORY,
    ),
    Case(
        "49 two children under the limit",
        "def f(x):\n    import os, time\n    for _ in range(2):\n        if os.fork() == 0:\n"
        "            kept = b'x' * (180 << 20); time.sleep(9); os._exit(0)\n    os.wait(); return x + 1\n",
        MEMORY,
        PASSED,
    ),
    body("51 endless recursion", "return f(x) + 1", FAILED),
    body("52 segmentation fault", "import ctypes; ctypes.string_at(0)", SIGNAL),
    body(
        "53 fills /tmp",
        "with open('/tmp/big', 'wb') as file:\n    while True: file.write(bytes(1 << 20))",
        FAILED,
    ),
    body(
        "53 fills /work and swallows",
        "file = open('/work/big', 'wb', 0)\ntry:\n    while file.write(bytes(1 << 20)): pass\nexcept OSError: pass\nreturn x + 1",
        PASSED,
    ),
    body(
        "53 one file above the size limit",
        "import os; os.truncate(os.open('/tmp/big', os.O_CREAT | os.O_RDWR), 1 << 50)",
        FAILED,
    ),
    body("54 a million files", "for n in range(10 ** 6): open(f'/tmp/{n}', 'w').close()", FAILED),
    body("56 endless stdout", "while True: print('x' * 1000)", OUTPUT),
    body("56 endless stderr", "import sys\nwhile True: print('x' * 1000, file=sys.stderr)", OUTPUT),
    body("56 an endless line", "import sys\nwhile True: sys.stdout.write('x' * 64)", OUTPUT),
    body(
        "56 both at once from a child",
        "import os\nos.fork()\nwhile True: os.write(1, b'x' * 999); os.write(2, b'y' * 999)",
        OUTPUT,
    ),
    body(
        "58 a right answer after a flood",
        "import os\nfor _ in range(400): os.write(1, b'x' * 65536)\nreturn x + 1",
        OUTPUT,
    ),
    body("59 too many files", "kept = []\nwhile True: kept.append(open('/dev/null'))", FAILED),
    # 75-82: text and input
    body("75 output that is no text", "import os; os.write(1, bytes(range(256))); return x + 1", PASSED),
    importing("80 a NUL in the source", "x = '\x00'"),
    importing("81 a syntax error", "def h(:"),
    importing("81 a missing package", "import no_such_package"),
    Case("81 a missing function", "def other(x):\n    return x\n", FAILED, FAILED),
    Case("81 a wrong signature", "def f():\n    return 2\n", FAILED, FAILED),
    body(
        "82 logs Error and warns",
        "import logging, sys, warnings\nlogging.error('Error: timeout')\nwarnings.warn('FAILED')\nprint('Traceback (most recent call last):', file=sys.stderr)\nreturn x + 1",
        PASSED,
    ),
    # beyond the list: what brings the supervisor down is no verdict, and what is none does not count
    body(
        "a supervisor that may open no file",
        "import os, resource\nresource.prlimit(1, resource.RLIMIT_NOFILE, (1, 1))\nos._exit(0)",
        FAILED,
    ),
    # a value against a literal is compared outside: test_tampering.py has what is left to the canary
    body(
        "19 an object that equals everything",
        "return type('Any', (), {'__eq__': lambda self, other: True})()",
        FAILED,
    ),
]
