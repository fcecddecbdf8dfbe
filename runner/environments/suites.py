"""Which Pythons there are to choose from: what the Debian mirror offers, suite by suite."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass

from runner.environments.debian import keyring
from runner.environments.recipe import BuildFailed

SUITES = ("trixie", "bookworm", "forky")
OLDEST = (3, 11)
ASK_SECONDS = 120


@dataclass(frozen=True)
class Offer:
    """The Python of a Debian suite: its minor version and the package's own; "" with the problem where none is to be had."""

    suite: str
    python: str = ""
    package: str = ""
    problem: str = ""


def ask_mirror(suites: Iterable[str] = SUITES) -> list[Offer]:
    """Return what each suite offers, as the builder of base images would find it. Raises BuildFailed without that builder."""
    if shutil.which("mmdebstrap") is None:
        raise BuildFailed("mmdebstrap is not installed. As root: apt-get install mmdebstrap")
    return [_ask(suite) for suite in suites]


def offered(suite: str, said: str) -> Offer:
    """Return the offer that a simulated making of the suite amounts to; our supervisor must run under its Python."""
    found = re.search(r"^Inst python3 \(((\d+)\.(\d+)\S*)", said, re.MULTILINE)
    if found is None:
        errors = [line.strip() for line in said.splitlines() if line.startswith("E:")]
        return Offer(suite, problem=(errors[0] if errors else "The mirror lists no python3 for it.")[:400])
    if (int(found[2]), int(found[3])) < OLDEST:
        wanted = ".".join(str(number) for number in OLDEST)
        return Offer(suite, package=found[1], problem=f"Its Python is older than {wanted}.")
    return Offer(suite, f"{found[2]}.{found[3]}", found[1])


def _ask(suite: str) -> Offer:
    command = ["mmdebstrap", "--simulate", "--verbose", "--variant=custom", "--include=python3", *keyring()]
    try:
        done = subprocess.run(
            [*command, suite, "/dev/null"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=ASK_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Offer(suite, problem=f"The mirror was too slow ({ASK_SECONDS} s).")
    return offered(suite, done.stdout)
