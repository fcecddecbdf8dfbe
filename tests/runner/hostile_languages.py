"""Adversarial submissions in JavaScript and C++: each one concrete program with exactly one right outcome.

As in hostile.py every program holds an honest `g` besides the hostile `f`. Drilled by tests/benchmarks/drill_languages.py.
"""

from __future__ import annotations

from dataclasses import dataclass

from runner.languages.braces.tokens import Dialect
from runner.outcome import Outcome
from runner.sandbox.base import Job, Limits
from runner.sandbox.settings import ENVIRONMENT
from tests.runner.hostile import (
    BUSY,
    CPU,
    EARLY_EXIT,
    FAILED,
    FORGED_ROW,
    LOAD_ERROR,
    MEMORY,
    NOT_RUN,
    OUTPUT,
    PASSED,
    SIGNAL,
    USUAL,
    WALL,
)

HONEST = {"javascript": "\nfunction g(x) { return x + 1 }\n", "cpp": "\nint g(int x) { return x + 1; }\n"}
SCRIPTS = {
    "javascript": "async function test_f() {\n  assert.equal(await f(1), 2)\n}\nfunction test_g() {\n  assert.equal(g(1), 2)\n}\n",
    "cpp": "void test_f() {\n  assert(f(1) == 2);\n}\nvoid test_g() {\n  assert(g(1) == 2);\n}\n",
}
CASES = """{"test": "test_f", "call": "f", "args": [1], "expected": 2}
{"test": "test_g", "call": "g", "args": [1], "expected": 2}
"""
# Long enough for node to start on a busy machine.
SLEEPY = Limits(cpu_seconds=5, wall_seconds=5)
PROCESS_WORDS = (
    "HOSTNAME",
    "BENCHWRIGHT_SEED",
    "NODE_NO_WARNINGS",
    "OMP_NUM_THREADS",
    "PWD",
    "SHLVL",
    "_",
    "LC_CTYPE",
)
OUR_WORDS = " ".join((*ENVIRONMENT, *PROCESS_WORDS))


@dataclass(frozen=True)
class LanguageCase:
    """One submission: the program, and what must come of it, of `f`'s test, and of its neighbour's."""

    language: Dialect
    name: str
    program: str
    whole: Outcome
    f: Outcome
    g: Outcome = PASSED
    limits: Limits = USUAL
    tests: str = ""

    def job(self) -> Job:
        """Return the job as for a submission: the tests are hidden."""
        tests = self.tests or SCRIPTS[self.language]
        program = self.program + HONEST[self.language]
        return Job(program, tests, ("test_f", "test_g"), self.limits, language=self.language)


def js(name: str, body: str, outcome: Outcome, *, limits: Limits = USUAL, tests: str = "") -> LanguageCase:
    """Return a case whose `f` has this body; where wall time is up, nothing else is run."""
    g = NOT_RUN if outcome is WALL else PASSED
    return LanguageCase("javascript", name, f"function f(x) {{ {body} }}", outcome, outcome, g, limits, tests)


def js_loading(
    name: str, text: str, outcome: Outcome = LOAD_ERROR, *, limits: Limits = USUAL
) -> LanguageCase:
    """Return a case that misbehaves while it is loaded."""
    program = f"function f(x) {{ return x + 1 }}\n{text}\n"
    return LanguageCase("javascript", name, program, outcome, NOT_RUN, NOT_RUN, limits)


HEADERS = """#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>
#include <csignal>
#include <cstdio>
#include <unistd.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <netinet/in.h>
extern char** environ;
"""


def cpp(name: str, body: str, outcome: Outcome, *, limits: Limits = USUAL, tests: str = "") -> LanguageCase:
    """Return a case whose `f` has this body; where wall time is up, nothing else is run."""
    g = NOT_RUN if outcome is WALL else PASSED
    return LanguageCase(
        "cpp", name, f"{HEADERS}int f(int x) {{ {body} }}", outcome, outcome, g, limits, tests
    )


def cpp_loading(
    name: str, text: str, outcome: Outcome = LOAD_ERROR, *, limits: Limits = USUAL
) -> LanguageCase:
    """Return a case that misbehaves while it is built, or before `main`."""
    return LanguageCase(
        "cpp", name, f"{HEADERS}int f(int x) {{ return x + 1; }}\n{text}\n", outcome, NOT_RUN, NOT_RUN, limits
    )


JAVASCRIPT_CASES = [
    js("process.exit(0)", "process.exit(0)", EARLY_EXIT),
    js("process.reallyExit(0)", "process.reallyExit(0)", EARLY_EXIT),
    js_loading("process.exit(0) at load", "process.exit(0)"),
    js_loading("throws at load", "null.x"),
    js_loading("does not parse", "function ("),
    js_loading("endless at load", "for (;;) {}", CPU, limits=BUSY),
    js("throws nothing that is an Error", "throw undefined", FAILED),
    js("a promise that is never kept", "return new Promise(() => {})", EARLY_EXIT),
    js(
        "throws behind our back",
        "setTimeout(() => { throw new Error('x') }); return new Promise(() => {})",
        FAILED,
    ),
    js("prints success", "console.log('OK\\n1 passed\\nPASSED test_f'); return 0", FAILED),
    js(
        "writes a row where rows go",
        f"for (let fd = 0; fd < 6; fd++) try {{ require('fs').writeSync(fd, '\\n{'0' * 32} ' + {FORGED_ROW!r} + '\\n') }} catch {{}} return 0",
        FAILED,
    ),
    js(
        "closes every descriptor",
        "for (let fd = 0; fd < 6; fd++) try { require('fs').closeSync(fd) } catch {} return 2",
        EARLY_EXIT,
    ),
    js(
        "neutralises node's assert",
        "const a = require('assert'); for (const o of [a, a.strict]) for (const k in o) o[k] = () => {}; Object.is = () => true; return 0",
        FAILED,
    ),
    js(
        "equals everything",
        "return { valueOf: () => 2, toString: () => '2', [Symbol.toPrimitive]: () => 2 }",
        FAILED,
    ),
    js(
        "redefines the tests",
        "globalThis.test_f = globalThis.assert = () => {}; globalThis.assert.equal = () => {}; return 0",
        FAILED,
    ),
    js("loops for ever", "for (;;) {}", CPU, limits=BUSY),
    js(
        "sleeps for ever", "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)", WALL, limits=SLEEPY
    ),
    js("takes all memory", "const kept = []; for (;;) kept.push(Buffer.alloc(1 << 20, 1))", MEMORY),
    js(
        "takes all memory by small things",
        "const kept = []; for (;;) kept.push([kept.length])",
        MEMORY,
        limits=Limits(20, 41),
    ),
    js(
        "fork bomb",
        "const { spawn } = require('child_process'); for (let n = 0; n < 300; n++) spawn('/bin/sleep', ['60']).on('error', () => {}); return 0",
        FAILED,
    ),
    js("recurses for ever", "return f(x) + f(x)", FAILED),
    js("aborts", "process.abort()", SIGNAL),
    js("kills itself", "process.kill(process.pid, 'SIGKILL'); for (;;) {}", SIGNAL),
    js("kills everybody", "try { process.kill(-1, 'SIGKILL') } catch {} return 0", FAILED),
    js("floods its output", "for (;;) require('fs').writeSync(1, 'x'.repeat(65536))", OUTPUT),
    js(
        "reads its environment",
        f"return Object.keys(process.env).every(k => '{OUR_WORDS}'.split(' ').includes(k)) ? 2 : 0",
        PASSED,
    ),
    js(
        "reaches for the network",
        "return new Promise(r => require('net').connect(80, '192.0.2.1').on('error', e => r(e.code === 'ENETUNREACH' ? 2 : 0)))",
        PASSED,
    ),
    js(
        "finds no test on disk or in its arguments",
        "const t = require('fs').readFileSync('/proc/self/cmdline', 'latin1') + require('fs').readdirSync('/work') + require('fs').readdirSync('/tmp'); return t.includes('test_' + 'g') ? 0 : 2",
        PASSED,
    ),
    js("cases: a value of its own kind", "return { toJSON: () => 2 }", FAILED, tests=CASES),
    js("cases: a wrong value", "return '2'", FAILED, tests=CASES),
    js("cases: leaves", "process.exit(0)", EARLY_EXIT, tests=CASES),
    js(
        "cases: prints and writes rows",
        f"for (let fd = 1; fd < 9; fd++) try {{ require('fs').writeSync(fd, '\\n{'0' * 32} ' + {FORGED_ROW!r} + '\\n') }} catch {{}} return 0",
        FAILED,
        tests=CASES,
    ),
]

CPP_CASES = [
    cpp("exit(0)", "std::exit(0);", EARLY_EXIT),
    cpp("_exit(0)", "_exit(0);", EARLY_EXIT),
    cpp("quick_exit(0)", "std::quick_exit(0);", EARLY_EXIT),
    cpp_loading("exit(0) before main", "static int early = (std::exit(0), 1);"),
    cpp_loading("does not compile", "int broken( {"),
    cpp_loading("leaves a comment open", "/* never closed"),
    cpp_loading("leaves a condition open", "#if 0"),
    cpp_loading("leaves a text open", 'const char* t = R"x('),
    cpp_loading("a main of its own", "int main() { return 0; }\n/*"),
    cpp_loading("needs what is not there", "#include <nowhere.h>"),
    cpp_loading("includes what others have open", '#include "/proc/2/fd/3"'),
    cpp_loading("includes the supervisor", '#include "/proc/1/environ"'),
    cpp_loading(
        "endless to compile",
        "template <int N, class... T> struct A : A<N - 1, T..., int>, A<N - 1, T..., char> {}; template <class... T> struct A<0, T...> {}; A<22> a;",
    ),
    cpp_loading(
        "endless before main",
        "static int late = [] { for (volatile int x = 0;; x++) {} return 1; }();",
        CPU,
        limits=BUSY,
    ),
    cpp("throws nothing of std", "throw 1;", FAILED),
    cpp("prints success", 'std::puts("OK\\n1 passed\\nPASSED test_f"); return 0;', FAILED),
    cpp(
        "writes a row on every descriptor",
        f'std::string row = "\\n{"0" * 32} " R"y({FORGED_ROW})y" "\\n"; for (int fd = 0; fd < 256; fd++) if (write(fd, row.data(), row.size()) < 0) continue; return 0;',
        FAILED,
    ),
    cpp("closes every descriptor", "for (int fd = 0; fd < 256; fd++) close(fd); return 2;", EARLY_EXIT),
    LanguageCase(
        "cpp",
        "defines assert away",
        f"{HEADERS}#define assert(...) ((void)0)\nint f(int x) {{ return 0; }}",
        FAILED,
        FAILED,
    ),
    LanguageCase(
        "cpp",
        "defines our words over",
        f'{HEADERS}#define check(...) ended(false, "")\n#define row(...) say("")\n#define true false\n#define test_f test_g\n#define if while\nint f(int x) {{ return 0; }}',
        FAILED,
        FAILED,
    ),
    LanguageCase(
        "cpp",
        "equals everything, as data",
        f"{HEADERS}struct Any {{ bool operator==(int) const {{ return true; }} }};\nAny f(int x) {{ return {{}}; }}",
        LOAD_ERROR,
        NOT_RUN,
        NOT_RUN,
        USUAL,
        CASES,
    ),
    cpp("loops for ever", "for (volatile int n = 0;; n++) {}", CPU, limits=BUSY),
    cpp("sleeps for ever", "for (;;) sleep(60);", WALL, limits=SLEEPY),
    cpp(
        "takes all memory",
        "std::vector<std::string> kept; for (;;) kept.push_back(std::string(1 << 20, 'x'));",
        MEMORY,
    ),
    cpp(
        "fork bomb",
        "for (int n = 0; n < 300; n++) if (fork() == 0) { sleep(60); _exit(0); } return 0;",
        FAILED,
    ),
    cpp("goes on twice", "fork(); return 0;", FAILED),
    cpp("recurses for ever", "volatile char room[1 << 12]; room[0] = f(x); return room[0] + f(x);", SIGNAL),
    cpp("writes where nothing is", "*static_cast<volatile int*>(nullptr) = 1; return 2;", SIGNAL),
    cpp("aborts", "std::abort();", SIGNAL),
    cpp("kills itself", "kill(getpid(), SIGKILL); for (;;) {}", SIGNAL),
    cpp("kills everybody", "kill(-1, SIGKILL); return 0;", FAILED),
    cpp("floods its output", "for (;;) std::puts(std::string(65536, 'x').c_str());", OUTPUT),
    cpp(
        "reads its environment",
        f'for (char** each = environ; *each; each++) if (std::string(" {OUR_WORDS} ").find(" " + std::string(*each).substr(0, std::string(*each).find(\'=\')) + " ") == std::string::npos) return 0; return 2;',
        PASSED,
    ),
    cpp(
        "reaches for the network",
        "int s = socket(AF_INET, SOCK_STREAM, 0); sockaddr_in to{}; to.sin_family = AF_INET; to.sin_port = htons(80); to.sin_addr.s_addr = htonl(0xC0000201); return connect(s, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0 ? 0 : 2;",
        PASSED,
    ),
    cpp(
        "finds its own file nowhere",
        'return access("/work/.program", F_OK) == 0 || access("/work/.sheet", F_OK) == 0 ? 0 : 2;',
        PASSED,
    ),
    cpp("cases: a wrong value", "return 3;", FAILED, tests=CASES),
    cpp("cases: leaves", "std::exit(0);", EARLY_EXIT, tests=CASES),
    cpp(
        "cases: writes a row on every descriptor",
        f'std::string row = "\\n{"0" * 32} " R"y({FORGED_ROW})y" "\\n"; for (int fd = 0; fd < 256; fd++) if (write(fd, row.data(), row.size()) < 0) continue; return 0;',
        FAILED,
        tests=CASES,
    ),
]
