"""The other ways to run the same trivial program once: bare Python, `docker exec`, a hardened `docker run --rm`."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from runner.sandbox.settings import seccomp

PROGRAM = "def f(x):\n    return x + 1\n"
TESTS = "def test_f():\n    assert f(1) == 2\n"
SCRIPT = PROGRAM + TESTS + "test_f()\n"
FLAGS = (
    "--rm -i --network none --read-only --cap-drop ALL --pids-limit 64 --memory 256m --memory-swap 256m --cpus 1"
    " --user 65534:65534 --log-driver none --security-opt no-new-privileges"
    " --tmpfs /tmp:rw,noexec,nosuid,nodev,size=32m"
)
# The system's interpreter where there is one: another's start may load much more than Python needs.
SYSTEM = Path("/usr/bin/python3")
INTERPRETER = str(SYSTEM if SYSTEM.exists() else Path(sys.executable).resolve())
PYTHON = ["python3", "-P", "-s", "-B", "-c", SCRIPT]


def milliseconds(call: Callable[[], object]) -> float:
    """Return how long a call took."""
    began = time.perf_counter()
    call()
    return (time.perf_counter() - began) * 1000


@contextmanager
def peers(image: str) -> Iterator[dict[str, Callable[[], object]]]:
    """Give each way by its name, ready to be called; the container for `docker exec` is gone when the block ends."""
    start = ["docker", "run", "-d", "--rm", "--network", "none", image, "sleep", "3600"]
    running = subprocess.run(start, capture_output=True, text=True, check=True).stdout.strip()
    with tempfile.TemporaryDirectory(prefix="benchwright-peers-") as folder:
        file, profile = Path(folder) / "file.py", Path(folder) / "seccomp.json"
        file.write_text(SCRIPT)
        profile.write_text(seccomp())
        hardened = [*FLAGS.split(), "--security-opt", f"seccomp={profile}"]
        commands = {
            "python3 file.py": [INTERPRETER, str(file)],
            "docker exec": ["docker", "exec", running, *PYTHON],
            "docker run --rm, hardened": ["docker", "run", *hardened, image, *PYTHON],
        }
        try:
            yield {name: _runner(command) for name, command in commands.items()}
        finally:
            subprocess.run(["docker", "rm", "-f", running], capture_output=True, check=False)


def _runner(command: list[str]) -> Callable[[], object]:
    return lambda: subprocess.run(command, check=True, capture_output=True)
