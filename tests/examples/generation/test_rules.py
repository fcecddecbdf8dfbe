"""Rules of replies, programs and tests: what keeps each, and what breaks each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from examples.generation.rules import (
    RULES,
    Allowed,
    RuleBroken,
    check_program,
    check_tests,
    code_of,
    wishes_of,
)
from examples.llm import Reply

SOURCE = '''import os
from .text import shorten


def label(name, width=20):
    """Return a label."""
    # what fits stays as it is
    if len(name) <= width:
        return name.strip()
    head, tail = shorten(name, width), name[-3:]
    return head + "-" + tail
'''
PROGRAM = SOURCE.replace(
    "from .text import shorten\n", "\n\ndef shorten(text, width):\n    return text[: width - 4]\n"
)
TESTS = """def test_label():
    assert label(" ab ") == "ab"
    assert label("abcdefghij", 8) == "abcd-hij"
    assert label("x" * 30, 10) == "xxxxxx-xxx"
"""
ALLOWED = Allowed(frozenset({"numpy"}))


def fenced(code: str, label: str = "python") -> str:
    return f"```{label}\n{code}```\n"


def broken(check: Callable[..., Any], *args: Any, **options: Any) -> str:
    """Return the rule that a call breaks; each is one that pages can name, and says why."""
    with pytest.raises(RuleBroken) as caught:
        check(*args, **options)
    assert caught.value.rule in RULES
    assert caught.value.message.endswith((".", "'", '"')) or ";" in caught.value.message
    return caught.value.rule


def program_breaks(program: str, before: str = "") -> str:
    return broken(check_program, program, source=SOURCE, function="label", allowed=ALLOWED, before=before)


def refused(tests: str, *, before: str = "") -> str:
    return broken(check_tests, tests, program=PROGRAM, function="label", allowed=ALLOWED, before=before)


def test_the_one_code_block_of_a_reply_is_its_code() -> None:
    assert code_of(Reply("Here it is:\n" + fenced("x = 1\n\n") + "Good luck.")) == "x = 1\n"
    assert code_of(Reply("~~~~py\r\nx = '```'\r\n~~~~")) == "x = '```'\n"


@pytest.mark.parametrize(
    ("text", "finish", "rule"),
    [
        ("x = 1", "stop", "one_code_block"),
        (fenced("x = 1\n") + fenced("y = 2\n"), "stop", "one_code_block"),
        ("```python\nx = 1\n", "stop", "one_code_block"),
        (fenced("x = 1\n"), "length", "truncated"),
        ("I'm sorry, but I can't help with that.", "stop", "refusal"),
        (fenced("x = 1\n") + "Then run:\n" + fenced("rm -rf /\n", "bash"), "stop", "shell_command"),
        ("$ python setup.py\n" + fenced("x = 1\n"), "stop", "shell_command"),
        ("curl http://example.org/x\n" + fenced("x = 1\n"), "stop", "shell_command"),
        ("First `pip install leftpad`.\n" + fenced("x = 1\n"), "stop", "package_wish"),
        (fenced("x = 1\n") + fenced("pip install leftpad==1.0 other\n", "sh"), "stop", "package_wish"),
    ],
)
def test_a_reply_that_is_not_one_block_of_code_breaks_a_rule(text: str, finish: str, rule: str) -> None:
    assert broken(code_of, Reply(text, finish)) == rule


def test_a_reply_that_opens_fences_and_closes_none_is_looked_at_once() -> None:
    assert broken(code_of, Reply("```a\n" * 39_000)) == "one_code_block"
    assert broken(code_of, Reply("x" * 200_001)) == "one_code_block"


def test_code_around_an_inner_fence_is_one_block() -> None:
    assert code_of(Reply("````python\nx = 1\n```\ny = 2\n````")) == "x = 1\n```\ny = 2\n"


def test_packages_that_a_reply_asks_for_are_wishes_with_the_line_that_asks() -> None:
    reply = Reply("Do `pip install -U leftpad==1.0 PyYAML` and\npip install leftpad")
    assert [(each.package, each.said) for each in wishes_of(reply, ALLOWED)] == [
        ("leftpad", "pip install -U leftpad==1.0 PyYAML"),
        ("PyYAML", "pip install -U leftpad==1.0 PyYAML"),
    ]


def test_what_code_imports_and_the_environment_lacks_is_a_wish_and_a_module_of_its_own_package_is_none() -> (
    None
):
    reply = Reply(fenced("import os, numpy\nimport leftpad.core\nfrom .text import shorten\n"))
    assert [(each.package, each.said) for each in wishes_of(reply, ALLOWED)] == [
        ("leftpad", "import leftpad.core in line 2")
    ]
    assert wishes_of(Reply("import leftpad"), ALLOWED) == []


def test_a_program_that_only_replaces_what_is_elsewhere_keeps_all_rules() -> None:
    check_program(PROGRAM, source=SOURCE, function="label", allowed=ALLOWED)
    check_program("import numpy\n" + PROGRAM, source=SOURCE, function="label", allowed=ALLOWED)


def test_a_method_published_without_its_class_may_stand_in_one() -> None:
    source = "def area(self):\n    return self.width * self.height\n"
    program = f"class Box:\n    {source.replace(chr(10) + '    ', chr(10) + ' ' * 8)}"
    check_program(program, source=source, function="Box.area", allowed=ALLOWED)
    assert (
        broken(check_program, source, source=source, function="Box.area", allowed=ALLOWED) == "focal_missing"
    )


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        (lambda text: text.replace("def label", "def other"), "focal_missing"),
        (lambda text: text.replace("def label(", "def label"), "syntax"),
        (lambda text: text.replace("    return text[: width - 4]", "    ..."), "omission"),
        (lambda text: text + "# the rest of the module remains unchanged\n", "omission"),
        (lambda text: text[: text.index("    if len")] + "    return name\n", "shortened"),
        (lambda text: text + "\n\ndef test_label():\n    assert label('a') == 'a'\n", "holds_tests"),
        (lambda text: text + '\n\nif __name__ == "__main__":\n    label("a")\n', "holds_tests"),
        (lambda text: text + "\n\nos.system('true')\n", "runs_commands"),
        (lambda text: "import subprocess\n" + text, "runs_commands"),
        (lambda text: "from os import popen\n" + text, "runs_commands"),
        (lambda text: text + "__import__('subprocess').run('true')\n", "runs_commands"),
        (lambda text: "import leftpad\n" + text, "package_wish"),
        (lambda text: "from .text import other\n" + text, "package_wish"),
    ],
)
def test_a_program_that_is_not_the_source_made_to_run_breaks_a_rule(
    change: Callable[[str], str], rule: str
) -> None:
    assert program_breaks(change(PROGRAM)) == rule


def test_a_program_repaired_into_itself_breaks_a_rule() -> None:
    assert program_breaks(PROGRAM.replace("\n\n\n", "\n  \n\n"), before=PROGRAM) == "same_again"


def test_what_the_source_does_itself_may_stay() -> None:
    source = "import subprocess\n\n\ndef run(words):\n    ...  # TODO the rest of the options\n    return subprocess.run(words)\n"
    check_program(source, source=source, function="run", allowed=ALLOWED)


def test_tests_that_call_the_function_and_can_fail_keep_all_rules() -> None:
    check_tests(TESTS, program=PROGRAM, function="label", allowed=ALLOWED)
    check_tests("import math\n\n\n" + TESTS, program=PROGRAM, function="label", allowed=ALLOWED)


def test_a_special_method_is_called_by_its_class() -> None:
    program = "class Box:\n    def __init__(self, width):\n        self.width = width\n"
    tests = "def test_box():\n" + "".join(f"    assert Box({n}).width == {n}\n" for n in range(3))
    check_tests(tests, program=program, function="Box.__init__", allowed=ALLOWED)


@pytest.mark.parametrize(
    ("tests", "rule"),
    [
        ("def test_label(:\n", "syntax"),
        ("def check():\n    assert label('a') == 'a'\n", "no_test"),
        ("def test_label(monkeypatch):\n    assert label('a') == 'a'\n", "no_test"),
        ("class TestLabel:\n    def test_a(self):\n        assert label('a') == 'a'\n", "no_test"),
        (TESTS + "\n\ndef label(name, width=20):\n    return name\n", "redefines"),
        (TESTS + "\n\nshorten = len\n", "redefines"),
        (TESTS + "\n\ndef test_more():\n    assert shorten('abc', 3) == ''\n", "does_not_call"),
        (TESTS + "    assert True\n", "vacuous_assertion"),
        (TESTS + "    assert 1 == 1\n", "vacuous_assertion"),
        (TESTS + "    assert label('a') == label('a')\n", "vacuous_assertion"),
        (TESTS + "    assert (label('a') == 'b', 'a label')\n", "vacuous_assertion"),
        (TESTS + "    assert label('a') == 'b' or True\n", "vacuous_assertion"),
        ("\n".join(TESTS.splitlines()[:3]) + "\n", "too_few_assertions"),
        (TESTS + "    os.system('true')\n", "runs_commands"),
        ("import leftpad\n" + TESTS, "package_wish"),
        (TESTS + "    # ... more tests here\n", "omission"),
    ],
)
def test_tests_that_show_nothing_or_do_more_break_a_rule(tests: str, rule: str) -> None:
    assert refused(tests) == rule


def test_tests_repaired_into_themselves_break_a_rule() -> None:
    assert refused(TESTS, before=TESTS + "\n") == "same_again"
