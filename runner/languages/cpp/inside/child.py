"""The program's process compiles program and tests, then becomes what came of it. Standard library only.

Nothing of the program runs before that, so what this process says of the build is to be believed; compiling has a
share of its own beside the job's limits (`build_seconds`). What is compiled comes in and goes out by files without names.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
from _blake2 import blake2s
from typing import Any

from runner.languages.inside.handing import enter, hand_over, sheet_of
from runner.sandbox.inside.process import dumpable

COMPILER = "/usr/bin/g++"
# Each compilation by itself; the share of a run holds more than one, since each process of a run is built anew.
COMPILE_SECONDS = 8
SAID_BYTES, ERROR_CHARS, TESTS_BROKEN = 1 << 16, 3000, "The tests do not compile."
FLAGS = [
    "-std=c++20",
    "-O0",
    "-w",
    "-x",
    "c++",
    "-fmax-errors=5",
    "-fdiagnostics-color=never",
    "-fno-diagnostics-show-caret",
    "-ftemplate-depth=300",
]
OUT = ".program"
HARNESS = ""  # put in by the profile
TOO_LONG = f"The compiler needed more than {COMPILE_SECONDS} s of CPU time."
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "TMPDIR": "/tmp"}  # noqa: S108 - inside the box


class Reporter:
    """Says what became of the build, under the nonce that came with the tests."""

    def __init__(self, descriptor: int, key: bytes) -> None:
        self.descriptor, self.key, self.sequence = descriptor, key, 0

    def say(self, **facts: Any) -> None:
        """Write one authentic row."""
        self.sequence += 1
        payload = json.dumps({"seq": self.sequence, **facts}).encode()
        tag = blake2s(payload, key=self.key, digest_size=16).hexdigest().encode()
        os.write(self.descriptor, b"\n" + tag + b" " + payload + b"\n")


def play(job: dict[str, Any], key: bytes, rows: int, tests: int) -> None:
    """Fetch the tests, build, become the program; never returns."""
    enter()
    dumpable(
        False
    )  # so that no `#include` opens what this process has open; the program it becomes is like any other
    Reporter(rows, key).say(loaded=True)
    with open(tests, "rb") as pipe:
        nonce, sheet = pipe.read(32), pipe.read()
    if not sheet:
        os._exit(1)
    reporter = Reporter(rows, nonce)
    told = json.loads(sheet)
    name = told["name"]
    error = compiled(whole(job["program"], told), OUT)
    if error:
        own = compiled(f'#line 1 "solution.cpp"\n{job["program"]}\n')
        if own:
            reporter.say(load_error=own)
        else:
            reporter.say(tests_error=error.replace(name, "tests") if job["revealed"] else TESTS_BROKEN)
        os._exit(1)
    program = os.open(OUT, os.O_RDONLY)
    os.unlink(OUT)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    reporter.say(built=round(used.ru_utime + used.ru_stime, 3))
    revealed = b"1" if job["revealed"] else b"0"
    hand_over(
        ["program"],
        dict(os.environ),
        (rows, os.open("/dev/null", os.O_RDONLY), sheet_of(nonce, revealed)),
        program=program,
    )


def whole(program: str, told: dict[str, Any]) -> str:
    """Return the program, the harness without what the program may have defined over it, the tests, the driver."""
    name = told["name"]
    undone = "".join(f"#undef {word}\n" for word in told["words"])
    harness = HARNESS.replace("PLACEHOLDER", name)
    cases = "#define WITH_CASES\n" if told["style"] == "cases" else ""
    return (
        f'#line 1 "solution.cpp"\n{program}\n#line 1 "harness.hpp"\n{undone}{cases}#line 1 "harness.hpp"\n{harness}\n'
        f'#line 1 "tests.cpp"\n{told["tests"]}\n#line 1 "driver.cpp"\n{told["driver"]}\n'
    )


def compiled(source: str, out: str = "") -> str:
    """Compile a text, only looking at it where no place for it is named; return what the compiler said, "" where it is well.

    Text and words are files without names: of a pipe an `#include` could wait for the end in vain.
    """
    text, words = sheet_of(source.encode("utf-8", "replace")), sheet_of()
    goal = ["-o", out] if out else ["-fsyntax-only"]
    process = subprocess.Popen(
        [COMPILER, *FLAGS, "-Dmain=program_main", *goal, "-"],
        stdin=text,
        stdout=subprocess.DEVNULL,
        stderr=words,
        env=ENVIRONMENT,
        preexec_fn=_bounded,
    )
    status = process.wait()
    said = os.pread(words, SAID_BYTES, 0).decode("utf-8", "replace").strip()
    os.close(text)
    os.close(words)
    if not status:
        return ""
    if "CPU time limit exceeded" in said:
        return TOO_LONG
    half = ERROR_CHARS // 2
    said = said if len(said) <= ERROR_CHARS else f"{said[:half]}\n[...]\n{said[-half:]}"
    return said or f"The compiler ended with status {status}."


def _bounded() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (COMPILE_SECONDS, COMPILE_SECONDS + 1))
