"""The C++ profile: g++ builds program and tests in the box, in a share of time of its own; python3 is the supervisor's."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from runner.languages.base import CanaryPlan, PlannedAssertion
from runner.languages.brace_canaries import plan
from runner.languages.brace_tests import BraceTests, pid_one
from runner.languages.braces.tokens import SourceBroken, tokens
from runner.languages.cases import cases_of, for_box
from runner.languages.pid_one import PidOne
from runner.sandbox.base import Job

HERE = Path(__file__).parent / "inside"
CHILD = "runner.languages.cpp.inside.child"
# For all builds of a run together; one run builds again for each process it needs.
BUILD_SECONDS = 20.0
MEMORY_BYTES = 512 << 20
KEYWORDS = """alignas alignof asm auto bool break case catch char class const const_cast constexpr continue decltype
 default delete do double dynamic_cast else enum explicit extern false float for friend goto if inline int long mutable
 namespace new noexcept nullptr operator private protected public reinterpret_cast return short signed sizeof static
 static_assert static_cast struct switch template this throw true try typedef typename union unsigned using virtual void
 volatile while concept requires main""".split()  # noqa: SIM905 - a list of 80 lines says no more
# What the C library itself defines as a macro in small letters, and a test may use; and what no macro can be called.
LIBRARY = frozenset(
    [
        "errno",
        "offsetof",
        "va_arg",
        "va_end",
        "va_start",
        "defined",
        "__VA_ARGS__",
        "__LINE__",
        "and",
        "and_eq",
        "bitand",
        "bitor",
        "compl",
        "not",
        "not_eq",
        "or",
        "or_eq",
        "xor",
        "xor_eq",
    ]
)


@dataclass(frozen=True)
class CppTests:
    """A job's tests and the driver that calls them, under a random name."""

    tests: BraceTests
    name: str

    @property
    def planned(self) -> tuple[PlannedAssertion, ...]:
        """Return the assertions that stand in the expected tests, in source order."""
        return self.tests.planned

    @property
    def build_seconds(self) -> float:
        """Return the CPU seconds that all builds of a run may take."""
        return self.tests.build_seconds

    def payload(self, run: Sequence[str]) -> bytes:
        """Return the sheet the builder reads. Of cases it holds what to call, never what must come of it."""
        job, style = self.tests.job, self.tests.style
        script = job.tests if style == "script" else ""
        sheet = {
            "name": self.name,
            "style": style,
            "tests": script,
            "driver": self._driver(run),
            "words": sorted(_words(script) | _words(_harness()) | set(KEYWORDS)),
        }
        return json.dumps(sheet).encode()

    def _driver(self, run: Sequence[str]) -> str:
        """Return `main` and the table of planned assertions."""
        rows = [
            f"{{{_quoted(test)}, {number}, {first}, {last}}}"
            for test, places in self.tests.spans.items()
            for number, first, last in places
        ]
        table = f"namespace {self.name} {{ namespace {{ const Planned plan[] = {{{''.join(f'{row}, ' for row in rows)}{{nullptr, 0, 0, 0}}}}; }} }}"
        return f"{table}\nint main() {{ {self.name}::start(); {self._calls(run)} {self.name}::finish(); }}"

    def _calls(self, run: Sequence[str]) -> str:
        if self.tests.style == "scratch":
            return _scratch(self.tests.job.block, self.name)
        counts = {test: len(places) for test, places in self.tests.spans.items()}
        calls = []
        for test, body in self._bodies(run):
            calls.append(f"{self.name}::run({_quoted(test)}, {counts.get(test, 0)}, [] {{ {body} }});")
        return "\n".join(calls)

    def _bodies(self, run: Sequence[str]) -> Iterable[tuple[str, str]]:
        """Yield each test with the statements that run it."""
        if self.tests.style == "script":
            yield from ((test, f"::{test}();") for test in run)
            return
        told = for_box(cases_of(self.tests.job.tests), run) if self.tests.planned else {}
        for test, asked in told.items():
            calls = [
                f"{self.name}::call(&::{each['call'].replace('.', '::')}, {{{each['assertion']}, {each['line']}}}, {_quoted(_compact(each['args']))});"
                for each in asked
            ]
            yield test, "\n".join(calls)


class CppProfile:
    """C++20 as g++ builds it, without optimising: that takes a third less time to build."""

    name = "cpp"
    executes = True
    memory_bytes = MEMORY_BYTES

    def pid_one(self) -> PidOne:
        """Return the supervisor; it forks, and the fork builds and becomes the program."""
        return _pid_one()

    def environment(self, seed: int) -> dict[str, str]:
        """Return what makes two runs alike; a program that wants a seed finds one here."""
        return {"OMP_NUM_THREADS": "1", "BENCHWRIGHT_SEED": str(seed)}

    def canaries(self, job: Job) -> CanaryPlan:
        """Return what may serve as canaries of the job."""
        return plan(job, "cpp")

    def prepare(self, job: Job) -> CppTests:
        """Return the tests, a script or cases; a scratch snippet becomes the body of `main`."""
        tests = BraceTests.of(job, "cpp", build_seconds=BUILD_SECONDS)
        return CppTests(tests, "tests_" + secrets.token_hex(12))


def _compact(value: object) -> str:
    """Return JSON without a space outside of texts, as the harness reads it."""
    return json.dumps(value, separators=(",", ":"))


def _scratch(snippet: str, name: str) -> str:
    """Return the snippet as statements; an expression alone is shown."""
    if ";" in snippet or not snippet.strip():
        return f'\n#line 1 "block.cpp"\n{snippet}\n'
    return f'std::puts({name}::shown(\n#line 1 "block.cpp"\n{snippet}\n).c_str());'


def _words(text: str) -> set[str]:
    """Return the names in a text that the program must not have defined as macros; those in capitals may be the library's."""
    try:
        found = {each.text for each in tokens(text, "cpp") if each.kind == "word"}
    except SourceBroken:
        found = set(re.findall(r"[A-Za-z_]\w*", text))
    return {
        word
        for word in found
        if word.isascii() and not word.isupper() and "$" not in word and "#" not in word
    } - LIBRARY


def _quoted(text: str) -> str:
    """Return a C++ string literal; octal escapes, since a hexadecimal one would not end."""
    kept = (
        chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\?' else f"\\{byte:03o}"
        for byte in text.encode()
    )
    return f'"{"".join(kept)}"'


@cache
def _harness() -> str:
    return (HERE / "harness.hpp").read_text()


@cache
def _pid_one() -> PidOne:
    return pid_one((CHILD,), {f"{CHILD}.HARNESS": _harness()})
