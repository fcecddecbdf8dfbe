"""A dozen doctested functions of ours, as a wheel, through the path without a model in real boxes: each ends as written."""

from __future__ import annotations

import zipfile
from functools import partial
from pathlib import Path

import pytest

from examples.checking.empty_body import accepted
from examples.checking.run import CHECKS, check_version
from examples.generation import running
from examples.generation.fragments.reading import read_path
from examples.generation.fragments.runs import plain_run
from examples.generation.fragments.screening import Wanted
from examples.generation.fragments.taking import take_fragments
from examples.generation.yields import yield_of
from examples.jobs import check_job, empty_program, reference_program
from examples.models import Example, Fragment, Version
from runner.queueing import execute_now
from tests.examples.generation.asking import generate_all

pytestmark = [pytest.mark.docker, pytest.mark.django_db(transaction=True)]
METADATA = "Name: shed\nVersion: 1.0\nLicense-Expression: MIT\n"
MARKS = "class _Mark:\n    def __repr__(self):\n        return '<mark>'\n\n\nMARK = _Mark()\n"
SHED = '''"""Small tools."""

from __future__ import annotations

import socket
from collections import Counter, deque

from shed.marks import MARK

WIDTH = 3


class Stack:
    """Things on one another."""

    def __init__(self, items=()):
        self.items = list(items)

    def top(self, default=MARK):
        """Give the uppermost of them, or a default.

        >>> Stack([4, 5]).top()
        5
        >>> Stack().top()
        <mark>
        """
        return self.items[-1] if self.items else default


def pairs(items):
    """Give neighbours, two by two.

    >>> pairs("abc")
    [('a', 'b'), ('b', 'c')]
    """
    items = list(items)
    return list(zip(items, items[1:]))


def count_pairs(items):
    """Count what stands beside what.

    >>> from shed.tools import count_pairs
    >>> count_pairs("abab")[("a", "b")]
    2
    >>> count_pairs("")
    Counter()
    """
    return Counter(pairs(items))


def show(items):
    """Print items, one a line, and an empty line.

    >>> show([7, 8])
    7
    8
    <BLANKLINE>
    """
    for item in items:
        print(item)
    print()


def parse(text):
    """Read a number above nothing.

    >>> parse("12")
    12
    >>> parse("-4")
    Traceback (most recent call last):
        ...
    ValueError: below 0: -4
    """
    number = int(text)
    if number < 0:
        raise ValueError(f"below 0: {number}")
    return number


def last(items, count=WIDTH):
    """Keep the last few.

    >>> last(range(9))  # doctest: +ELLIPSIS
    deque([6, ...8], maxlen=3)
    """
    return deque(items, maxlen=count)


def wrong(n):
    """Double a number, the example says otherwise.

    >>> wrong(2)
    5
    """
    return n * 2


def vacuous(n):
    """Note a number somewhere.

    >>> vacuous(2) is None
    True
    """
    str(n)


def silent(n):
    """Show nothing that could be asserted.

    >>> kept = silent(2)
    """
    return n


def told(n):
    """Return 12345 whatever comes.

    >>> told(1) > 0
    True
    >>> told(2)
    12345
    """
    return 12345


def lacking(n):
    """Use what is nowhere.

    >>> lacking(2)
    3
    """
    return elsewhere(n)


def reaching(host):
    """Look up a host.

    >>> reaching("localhost")
    '127.0.0.1'
    """
    return socket.gethostbyname(host)


def bare(n):
    """Has no example."""
    return n


def undescribed(n):
    """
    >>> undescribed(2)
    2
    """
    return n + 0
'''
ENDS = {
    "Stack.top": ("accepted", ""),
    "pairs": ("accepted", ""),
    "count_pairs": ("accepted", ""),
    "show": ("accepted", ""),
    "parse": ("accepted", ""),
    "last": ("accepted", ""),
    "wrong": ("rejected", "tests_fail"),
    "vacuous": ("rejected", "accepts_empty_body"),
    "silent": ("rejected", "no_assertion"),
    "told": ("rejected", "reveals_tests"),
    "lacking": ("rejected", "missing_name"),
    "reaching": ("left_out", "network"),
    "bare": ("left_out", "no_doctest"),
    "undescribed": ("rejected", "no_description"),
    "Stack.__init__": ("left_out", "no_doctest"),
    "_Mark.__repr__": ("left_out", "no_doctest"),
}


def test_doctested_functions_of_a_wheel_end_as_written_and_what_is_accepted_holds(
    tmp_path: Path, warm: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Three repeats more would show nothing about generation.
    monkeypatch.setattr(running, "check_version", partial(check_version, seeds=(1, 2)))
    run = plain_run("shed", dataset="made")
    take_fragments(run, read_path(_wheel(tmp_path)), Wanted(doctests=True))
    ended = {each.function: each for each in generate_all(run)}
    assert {name: (each.state, each.reason_code) for name, each in ended.items()} == ENDS
    assert ended["wrong"].reason.startswith("FAILED: test_wrong, line 2: assert wrong(2) == 5")
    assert "line" in ended["lacking"].reason
    for fragment in ended.values():
        if fragment.state == Fragment.State.ACCEPTED:
            _holds(fragment)
    assert Example.objects.count() == 6, "nothing else became an example"
    report = yield_of([run])
    assert [stage.count for stage in report.stages] == [16, 12, 10, 9, 8, 6, 6]
    assert (report.tokens, report.micros) == (0, 0)


def _wheel(folder: Path) -> Path:
    path = folder / "shed-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("shed/tools.py", SHED)
        archive.writestr("shed/marks.py", MARKS)
        archive.writestr("shed-1.0.dist-info/METADATA", METADATA)
    return path


def _holds(fragment: Fragment) -> None:
    """The example passes with its reference and fails with an empty body, and shows no example of the docstring."""
    example = fragment.example
    assert example is not None
    version = example.current
    assert version is not None
    assert version.check_state == Version.CheckState.PASSED
    assert set(version.checks.values_list("name", flat=True)) >= set(CHECKS)
    assert execute_now(check_job(version, reference_program(version)), environment=version.environment).passed
    assert not accepted(
        execute_now(check_job(version, empty_program(version)), environment=version.environment)
    )
    assert ">>>" not in version.instruction
    # A helper's own examples may stay.
    shown = [line for line in version.context.splitlines() if ">>>" in line]
    assert not any(fragment.function.rpartition(".")[2] in line for line in shown)
    assert example.known_licence == "MIT"
    assert example.provenance["file"] == "shed/tools.py"
    assert example.repository == "shed 1.0"
