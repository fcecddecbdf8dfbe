"""Rows 75 to 83: odd sources, odd output, odd names."""

from __future__ import annotations

from tests.runner.hostile import (
    FAILED,
    MEMORY,
    PASSED,
    Case,
    body,
    each,
    importing,
    loading,
)

MEGABYTE = 1_000_000

NO_SOURCE = {
    "a binary": "\x7fELF\x02\x01\x01\x03\x04",
    "half a surrogate": "x = '\ud800'",
    "an escape sequence": "\x1b[31m",
    "a hundred thousand parentheses": "x = " + "(" * 100_000 + ")" * 100_000,
    "a hundred thousand signs": "x = " + "-" * 100_000 + "1",
    "a sum of a hundred thousand": "x = " + "+".join(["1"] * 100_000),
    "an attribute of an attribute": "x = a" + ".b" * 100_000,
    "two hundred levels": "\n".join(" " * n + "if 1:" for n in range(200)) + "\n" + " " * 200 + "pass",
    "twenty thousand branches": "if 1: pass\n" + "elif 1: pass\n" * 20_000,
    "fifty thousand lambdas": "x = " + "lambda: " * 50_000 + "1",
    "tabs and spaces": "if 1:\n\tx = 1\n        y = 2",
    "a future that is not": "from __future__ import braces",
    "an await outside": "await x",
    "a quote that does not end": "x = '''",
    "a null in the middle of a line": "x = 1\x00\ny = 2",
    "two marks of byte order": "\ufeff\ufeffx = 1",
    "a module that is not ours": "import runner",
    "our own process": "from runner.sandbox.inside import supervisor",
    "an error of ten megabytes": "raise ValueError('x' * 10_000_000)",
    "an error with sequences": "raise ValueError('\\x1b[2J\\x1b]0;t\\x07\\u202e<script>alert(1)</script>\\ud800\\x00')",
    "a name that is not there": "print(undefined)",
    "a package, half there": "import numpy.linalg.nothing",
}

SOURCES = {
    "CRLF": "x = 1\r\ny = 2\r\n",
    "carriage returns alone": "x = 1\ry = 2\r",
    "form feeds": "\x0cx = 1\n\x0c",
    "an odd coding cookie": "# -*- coding: rot13 -*-\nx = 1",
    "an unknown coding cookie": "# coding: no-such-thing\nx = 1",
    "a mark of byte order": "\ufeffx = 1",
    "identifiers of all scripts": "变量 = 1\nπ = 3",
    "text that runs backwards": "x = '\u202e\u2066 abc'  # \u202e",
    "a megabyte of comments": "# padding\n" * (MEGABYTE // 10),
    "a megabyte of text": "x = '" + "y" * MEGABYTE + "'",
    "a line of a megabyte": "x = 1" + " " * MEGABYTE + "+ 1",
    "a hundred levels": "\n".join(" " * n + "if 1:" for n in range(99)) + "\n" + " " * 99 + "pass",
    "twenty thousand functions": "".join(f"def h{n}(): return {n}\n" for n in range(20_000)),
    "its own module, as a script has it": "import __main__\nassert __name__ == '__main__' and __main__.__file__.endswith('.py')",
    "no end of line at its end": "x = 1",
}

PRINTED = {
    "escape sequences": "print('\\x1b[31m\\x1b]0;title\\x07\\x1b]8;;http://x\\x1b\\\\')",
    "text that runs backwards": "print('\\u202e\\u2066\\u200f')",
    "markup": "print('<script>alert(1)</script><!-- ```` --> | # *')",
    "carriage returns": "print('0 failed\\rPASSED\\b\\b\\b\\b')",
    "half a character": "import os; os.write(1, b'\\xe2\\x82'); os.write(2, b'\\xff\\xfe')",
    "nulls": "print('\\0' * 1000)",
    "formulas": "print('=cmd|\\' /C calc\\'!A0,+1,-1,@x')",
}

TEXTS = [
    *(
        body(f"75 {name}", f"{text}\nreturn x + 1", PASSED, quick=name == "half a character")
        for name, text in PRINTED.items()
    ),
    *(
        body(
            f"78 {name} in an exception",
            f"import os\nraise ValueError({text.removeprefix('print(').removesuffix(')')!r})",
            FAILED,
            quick=False,
        )
        for name, text in PRINTED.items()
        if text.startswith("print")
    ),
    *(
        importing(
            f"80 {name}",
            text,
            quick=name in ("half a surrogate", "a sum of a hundred thousand", "an error with sequences"),
        )
        for name, text in NO_SOURCE.items()
    ),
    *(
        loading(
            f"80 {name}", text, quick=name in ("CRLF", "an unknown coding cookie", "a megabyte of comments")
        )
        for name, text in SOURCES.items()
    ),
    importing(
        "80 a megabyte of statements needs more memory than there is",
        "x = 1\n" * 170_000,
        MEMORY,
        quick=False,
    ),
    Case("81 nothing at all", "", FAILED, FAILED, quick=False),
    Case("81 a function that is none", "f = 7\n", FAILED, FAILED, quick=False),
    Case("81 a class", "class f:\n    def __init__(self, x): pass\n", FAILED, FAILED, quick=False),
    Case("81 a coroutine", "async def f(x):\n    return x + 1\n", FAILED, FAILED, quick=False),
    Case("81 a generator", "def f(x):\n    yield x + 1\n", FAILED, FAILED, quick=False),
    Case(
        "81 a function that removes itself",
        "def f(x):\n    global f\n    del f\n    return x + 1\n",
        PASSED,
        PASSED,
        quick=False,
    ),
    *each(
        "82",
        {
            "errors of every logger": "import logging\nfor level in (10, 20, 30, 40, 50): logging.log(level, 'Error FAILED Traceback')\nreturn x + 1",
            "a warning that repeats": "import warnings\nwarnings.simplefilter('always')\nfor _ in range(100): warnings.warn('error')\nreturn x + 1",
            "an exception that is caught and shown": "import traceback\ntry: 1 / 0\nexcept ZeroDivisionError: traceback.print_exc()\nreturn x + 1",
            "an exception in a thread": "import threading\nt = threading.Thread(target=lambda: 1 / 0); t.start(); t.join()\nreturn x + 1",
            "an exception that is ignored": "class A:\n    def __del__(self): raise ValueError\nA()\nreturn x + 1",
        },
        PASSED,
        quick=("an exception in a thread",),
    ),
]
