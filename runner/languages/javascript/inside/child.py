"""The program's process becomes node: the job and the key go along in a file without a name. Standard library only."""

from __future__ import annotations

import json
import os
from typing import Any

from runner.languages.inside.handing import enter, hand_over, sheet_of

NODE = "/usr/bin/node"
# The box's memory limit decides, not V8's own idea of one; Math.random is the same for the same seed (0 means none).
FLAGS = ("--max-old-space-size=65536", "--no-warnings")
REPORTER = ""  # put in by the profile


def play(job: dict[str, Any], key: bytes, rows: int, tests: int) -> None:
    """Execute node with the reporter, which loads the program and runs the tests; never returns."""
    enter()
    environment = dict(os.environ)
    seed = int(environment.pop("BENCHWRIGHT_SEED", "0"))
    told = {name: job[name] for name in ("program", "revealed", "watch_network")}
    sheet = sheet_of(key, json.dumps(told).encode())
    command = [NODE, *FLAGS, f"--random-seed={seed + 1}", "-e", REPORTER]
    hand_over(command, environment, (rows, tests, sheet))
