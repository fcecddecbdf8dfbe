"""Rows 12 to 34, as far as no value and no frame is forged: what is printed, written and left lying changes nothing.

Values, frames and the names of tests have a module of their own (test_tampering.py).
"""

from __future__ import annotations

from tests.runner.hostile import EARLY_EXIT, FAILED, PASSED, body, each

EVERYWHERE = """
import os
def drop(names, text):
    for place in ('/work', '/tmp', '/dev/shm', '/', '/etc', '/usr/lib/python3/dist-packages', os.path.dirname(os.__file__)):
        for name in names:
            try:
                os.makedirs(os.path.dirname(os.path.join(place, name)), exist_ok=True)
                open(os.path.join(place, name), 'w').write(text)
            except OSError: pass
"""

DROPPED = {
    "conftest.py with a report hook": EVERYWHERE
    + "drop(['conftest.py', 'pytest.ini', 'tox.ini'], 'def pytest_runtest_makereport(item, call): call.excinfo = None')",
    "sitecustomize.py and .pth": EVERYWHERE
    + "drop(['sitecustomize.py', 'usercustomize.py', 'x.pth', '.local/lib/python3.13/site-packages/x.pth'], 'import os; os._exit(0)')",
    "modules that shadow ours": EVERYWHERE
    + "drop(['json.py', 'ast.py', 'inspect.py', 'hashlib.py', 'runner/__init__.py'], 'raise SystemExit(0)')",
    "reports of other harnesses": EVERYWHERE
    + "drop(['results.json', 'reward.txt', 'junit.xml', 'report.xml', 'score', '.coverage', 'logs/verifier.json'], '{\"passed\": 1}')",
}

FORGING = [
    body(
        "12 lays stdout over every pipe",
        """
        import os
        for fd in range(3, 64):
            try: os.fstat(fd); os.dup2(1, fd)
            except OSError: pass
        return 2
        """,
        EARLY_EXIT,
    ),
    body(
        "12 lays /dev/null over every pipe",
        "import os\nnull = os.open('/dev/null', os.O_WRONLY)\nfor fd in range(64): os.dup2(null, fd)\nreturn 2",
        EARLY_EXIT,
        quick=False,
    ),
    body(
        "12 half a row without an end",
        "import os\nfor fd in range(3, 64):\n    try: os.write(fd, b'0' * 32 + b' {')\n    except OSError: pass\nreturn 0",
        FAILED,
    ),
    body(
        "12 half a row before a right answer",
        "import os\nfor fd in range(3, 64):\n    try: os.write(fd, b'0' * 9000)\n    except OSError: pass\nreturn x + 1",
        PASSED,
        quick=False,
    ),
    body(
        "12 line ends without end",
        "import os\nfor fd in range(3, 64):\n    try:\n        for _ in range(128): os.write(fd, b'\\n' * 65536)\n    except OSError: pass\nreturn 0",
        EARLY_EXIT,
    ),
    body(
        "12 a copy of it goes on in its place",
        "import os\nif os.fork() == 0: return 2\nos.wait(); os._exit(0)",
        EARLY_EXIT,
    ),
    body(
        "12 a copy of it is right, it is not",
        "import os\nif os.fork() == 0: return 2\nos.wait(); return 0",
        FAILED,
        quick=False,
    ),
    body(
        "12 makes its pipes small and impatient",
        """
        import fcntl, os
        for fd in range(1, 64):
            try: fcntl.fcntl(fd, fcntl.F_SETPIPE_SZ, 4096); os.set_blocking(fd, False)
            except OSError: pass
        return x + 1
        """,
        PASSED,
    ),
    *each(
        "14",
        {
            "says that the engine failed": "import sys\nprint('Error response from daemon: OCI runtime create failed', file=sys.stderr)\nreturn 0",
            "prints a traceback of the harness": "print('Traceback (most recent call last):\\n  File \"supervisor.py\"\\nSandboxUnavailable')\nreturn 0",
            "is called like a limit": "class TIMEOUT_CPU(Exception): pass\nraise TIMEOUT_CPU('OUTPUT_LIMIT MEMORY')",
        },
        FAILED,
    ),
    *each(
        "15",
        {
            "writes to every file there is": """
        import os
        for place, _, names in os.walk('/'):
            if place.startswith(('/proc', '/sys')): continue
            for name in names:
                try: os.close(os.open(os.path.join(place, name), os.O_WRONLY | os.O_APPEND | os.O_NONBLOCK))
                except OSError: pass
        return 0
        """
        },
        FAILED,
    ),
    *each(
        "24",
        {name: f"{text}\nreturn 0" for name, text in DROPPED.items()},
        FAILED,
        quick=("modules that shadow ours",),
    ),
    *each(
        "24",
        {f"{name}, and out": f"{text}\nos._exit(0)" for name, text in DROPPED.items()},
        EARLY_EXIT,
        quick=("sitecustomize.py and .pth, and out",),
    ),
    body(
        "28 removes all it may",
        "import shutil\nfor place in ('/work', '/tmp', '/dev', '/', '/usr'): shutil.rmtree(place, ignore_errors=True)\nreturn 0",
        FAILED,
        quick=False,
    ),
    body(
        "28 removes all it may, and is right",
        "import shutil\nfor place in ('/work', '/tmp', '/dev/shm'): shutil.rmtree(place, ignore_errors=True)\nreturn x + 1",
        PASSED,
        quick=False,
    ),
]
