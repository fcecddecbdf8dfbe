"""Rows 1 to 11: other ways to leave before the verdict."""

from __future__ import annotations

from tests.runner.hostile import (
    EARLY_EXIT,
    FAILED,
    IDLE,
    NOT_RUN,
    PASSED,
    SIGNAL,
    WALL,
    Case,
    body,
    each,
    importing,
)

EXITS = {
    "quit()": "quit()",
    "exit of the C library": "import ctypes; ctypes.CDLL(None).exit(0)",
    "_exit of the C library": "import ctypes; ctypes.CDLL(None)._exit(0)",
    "quick_exit": "import ctypes; ctypes.CDLL(None).quick_exit(0)",
    "the system call exit_group": "import ctypes; ctypes.CDLL(None).syscall(231, 0)",
    "the system call exit, in its only thread": "import ctypes; ctypes.CDLL(None).syscall(60, 0)",
    "os._exit in a thread": "import os, threading, time; threading.Thread(target=os._exit, args=(0,)).start(); time.sleep(9)",
    "a finalizer": "import os\nclass Leaving:\n    def __del__(self): os._exit(0)\nLeaving()\nreturn x + 1",
    "a weak reference": "import os, weakref\nclass A: pass\na = A()\nweakref.finalize(a, os._exit, 0)\ndel a\nreturn x + 1",
    "a trace function": "import sys; sys.settrace(lambda *_: sys.exit(0)); return g(x)",
    "a profile function": "import sys; sys.setprofile(lambda *_: sys.exit(0)); return g(x)",
    "a signal handler": """
        import signal, sys
        signal.signal(signal.SIGALRM, lambda *_: sys.exit(0))
        signal.setitimer(signal.ITIMER_REAL, 0.01)
        while True: pass
        """,
    "exit handlers run early": "import atexit, os; atexit.register(os._exit, 0); atexit._run_exitfuncs()",
    "a coroutine": "import asyncio, sys\nasync def leave(): sys.exit(0)\nasyncio.run(leave())",
    "posix_spawn of another program, and out": """
        import os
        os.posix_spawn('/bin/sh', ['sh', '-c', 'echo 1 passed'], {})
        os._exit(0)
        """,
    "execve by a descriptor": """
        import os
        os.execve(os.open('/usr/bin/python3', os.O_RDONLY), ['python3', '-c', 'print(2)'], {})
        """,
    "execl of true": "import os; os.execl('/bin/true', 'true')",
    "execvp of what writes everywhere": """
        import os
        os.execvp('python3', ['python3', '-c', '''
        import os
        for fd in range(64):
            try: os.write(fd, b"PASSED test_f")
            except OSError: pass
        '''.replace('        ', '')])
        """,
}

RAISED = {
    "AssertionError": "raise AssertionError('expected 2')",
    "MemoryError": "raise MemoryError",
    "TimeoutError": "raise TimeoutError('CPU time limit exceeded')",
    "RecursionError": "raise RecursionError",
    "StopIteration": "raise StopIteration(2)",
    "CancelledError": "import asyncio; raise asyncio.CancelledError",
    "a group of exits": "raise BaseExceptionGroup('', [SystemExit(0), KeyboardInterrupt()])",
    "one that leaves when it is shown": """
        import os
        class E(Exception):
            def __str__(self): os._exit(0)
            __repr__ = __str__
        raise E
        """,
    "one that claims to be SystemExit": """
        class E(Exception):
            __class__ = property(lambda self: SystemExit)
        raise E
        """,
    "two in a circle": "a, b = ValueError(), KeyError()\na.__context__, b.__context__ = b, a\nraise a",
    "one of ten megabytes": "raise ValueError('x' * 10_000_000)",
    "what cannot be raised": "raise 2",
}

HIDING = {
    "no stdout": "import sys; sys.stdout = sys.stderr = None; return 0",
    "closed streams": "import os, sys; sys.stdout.close(); os.close(2); return 0",
    "a stream that raises": """
        import sys
        class S:
            def write(self, *_): raise SystemExit(0)
            flush = write
        sys.stdout = sys.stderr = S()
        return 0
        """,
    "other hooks": """
        import sys, warnings
        sys.unraisablehook = sys.displayhook = warnings.showwarning = lambda *_: None
        return 0
        """,
    "no print": "import builtins; builtins.print = builtins.repr = None; return 0",
}

SIGNALS = ("SEGV", "BUS", "FPE", "ILL", "TRAP", "QUIT", "HUP", "USR1", "USR2", "ALRM", "SYS", "XCPU", "RTMIN")

FIND_TESTS = """
import fcntl, os, stat
def is_the_pipe_of_tests(fd):
    try:
        return stat.S_ISFIFO(os.fstat(fd).st_mode) and fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY
    except OSError:
        return False
for fd in filter(is_the_pipe_of_tests, range(3, 64)):
"""

LEAVING = [
    *each(
        "1",
        EXITS,
        EARLY_EXIT,
        quick=("os._exit in a thread", "a finalizer", "a trace function", "a coroutine"),
    ),
    body(
        "1 sys.exit in a thread ends the thread",
        "import sys, threading\nt = threading.Thread(target=sys.exit); t.start(); t.join()\nreturn 0",
        FAILED,
        quick=False,
    ),
    body(
        "1 a child that leaves is a child",
        "import os\nif os.fork() == 0: os._exit(0)\nos.wait(); return x + 1",
        PASSED,
        quick=False,
    ),
    body(
        "1 leaves when it is compared",
        "class Leaving(int):\n    def __eq__(self, other): raise SystemExit(0)\nreturn Leaving(3)",
        FAILED,
        quick=False,
    ),
    importing("2 raise SystemExit", "raise SystemExit", quick=False),
    importing("2 exit()", "exit()", quick=False),
    importing("2 execv", "import os; os.execv('/bin/true', ['true'])"),
    importing("2 abort", "import os; os.abort()", SIGNAL, quick=False),
    importing(
        "2 an exception that cannot be shown",
        "class E(Exception):\n    def __str__(self): raise E\nraise E",
    ),
    importing(
        "2 an exception that leaves when it is shown",
        "import os\nclass E(Exception):\n    def __str__(self): os._exit(0)\nraise E",
        quick=False,
    ),
    importing(
        "2 a stream that leaves when it is flushed",
        "import os, sys\nclass S:\n    def flush(self): os._exit(0)\nsys.stdout = S()",
        quick=False,
    ),
    importing("2 sleeps", "import time; time.sleep(99)", WALL, limits=IDLE, quick=False),
    Case("2 goes on twice", "import os\nos.fork()\ndef f(x):\n    return x + 1\n", PASSED, PASSED),
    Case(
        "2 closes the pipe of its tests",
        f"{FIND_TESTS}    os.close(fd)\ndef f(x):\n    return x + 1\n",
        FAILED,
        NOT_RUN,
        NOT_RUN,
    ),
    Case(
        "2 fills the pipe of its tests",
        f"{FIND_TESTS}    sink = os.open(f'/proc/self/fd/{{fd}}', os.O_WRONLY | os.O_NONBLOCK)\n    try:\n"
        "        while True: os.write(sink, b'x' * 4096)\n    except BlockingIOError: os.close(sink)\n"
        "def f(x):\n    return x + 1\n",
        FAILED,
        NOT_RUN,
        NOT_RUN,
    ),
    *each("5", RAISED, FAILED, quick=("MemoryError", "one that leaves when it is shown", "two in a circle")),
    body(
        "6 execv of sleep",
        "import os; os.execv('/bin/sleep', ['sleep', '99'])",
        WALL,
        limits=IDLE,
        g=NOT_RUN,
        quick=False,
    ),
    body(
        "6 another interpreter kills it",
        "import subprocess\nsubprocess.run(['python3', '-c', 'import os; os.kill(os.getppid(), 9)']); return x + 1",
        SIGNAL,
        quick=False,
    ),
    body(
        "8 exit handlers of other kinds",
        "import os, threading, weakref\nthreading._register_atexit(os._exit, 0); weakref.finalize(os, os._exit, 0)\nreturn 0",
        FAILED,
        quick=False,
    ),
    *each("9", HIDING, FAILED, quick=("a stream that raises",)),
    *each(
        "11",
        {f"SIG{name} to itself": f"import signal; signal.raise_signal(signal.SIG{name})" for name in SIGNALS},
        SIGNAL,
        quick=("SIGXCPU to itself", "SIGSEGV to itself"),
    ),
    *each(
        "11",
        {
            "faulthandler's fault": "import faulthandler; faulthandler._sigsegv()",
            "SIGKILL from its child": "import os, time\nif os.fork() == 0: os.kill(os.getppid(), 9)\ntime.sleep(9)",
            "SIGKILL by a descriptor of itself": "import os, signal; signal.pidfd_send_signal(os.pidfd_open(os.getpid()), 9)",
        },
        SIGNAL,
    ),
    body("11 SIGINT to itself", "import os; os.kill(os.getpid(), 2)", FAILED, quick=False),
    body(
        "11 SIGPIPE, which Python ignores",
        "import os; os.kill(os.getpid(), 13); return x + 1",
        PASSED,
        quick=False,
    ),
    *each(
        "14",
        {f"leaves with {n}": f"import os; os._exit({n})" for n in (1, 2, 124, 125, 126, 139, 255)},
        EARLY_EXIT,
    ),
]
