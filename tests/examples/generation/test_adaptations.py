"""What a program changed of its source, in the paper's three kinds."""

from __future__ import annotations

from examples.generation.adaptations import adaptations

SOURCE = """import json
from .text import shorten


def report(path, number):
    with open(path) as stream:
        names = json.load(stream)
    user = requests.get(f"https://example.org/{number}").json()
    return shorten(names[user])
"""
PROGRAM = """import json


def shorten(text):
    return text[:10]


def report(path, number):
    names = {"a": "first"}
    user = {"name": "a"}["name"]
    return shorten(names[user])
"""


def test_each_change_is_labelled_with_its_kind() -> None:
    found = adaptations(
        SOURCE, PROGRAM.replace('    user = {"name": "a"}["name"]', '    if number:\n        user = "a"')
    )
    assert "local import" in [each.kind for each in found]
    assert "file reading" in [each.kind for each in found]
    assert found[0].before == "from .text import shorten"


def test_a_call_of_a_service_is_labelled_by_itself() -> None:
    changed = SOURCE.replace('requests.get(f"https://example.org/{number}").json()', '"a"')
    (only,) = adaptations(SOURCE, changed)
    assert (only.kind, only.after) == ("external API", '    user = "a"')


def test_a_helper_that_is_put_in_stands_for_an_import() -> None:
    (only,) = adaptations(
        "def f():\n    return g()\n", "def g():\n    return 1\n\n\ndef f():\n    return g()\n"
    )
    assert only.kind == "local import"


def test_nothing_changed_is_no_adaptation() -> None:
    assert adaptations(SOURCE, SOURCE) == []
    assert adaptations(SOURCE, SOURCE + "\n\n") == []
