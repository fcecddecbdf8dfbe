"""RULES: of an instruction: it says what is wanted and reveals neither the solution nor what hidden tests expect; pure.

A leak is eight or more consecutive tokens of the reference body, or a literal that a hidden test expects.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from examples.generation.rules.base import RuleBroken
from examples.languages.python import source as python

TOKENS = 8
LONGEST = 20_000  # characters of an instruction
SECTIONS = ("Functionality", "Inputs", "Outputs")
SKIPPED = (
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
)
# Words of every instruction ("returns True", "a list of 2 items"), which give nothing away.
PLAIN = (None, True, False, ..., "", b"", (), 0, 1, 2, -1, 0.0, 1.0)


def instruction_of(found: Mapping[str, Any]) -> str:
    """Return an instruction in three sections of what a reply holds. Raises RuleBroken (`incomplete_instruction`)."""
    by_name = {str(name).strip().lower(): value for name, value in found.items()}
    parts = []
    for name in SECTIONS:
        text = _flat(by_name.get(name.lower()))
        if len(text.split()) < 2:
            raise RuleBroken("incomplete_instruction", f"{name} is missing or says nothing.")
        parts.append(f"{name}: {text}")
    whole = "\n\n".join(parts) + "\n"
    if len(whole) > LONGEST:
        raise RuleBroken("incomplete_instruction", f"it has {len(whole)} characters. Say it in {LONGEST}.")
    return whole


def _flat(value: Any) -> str:
    """Return text as it is, and lists and objects as lines: models like to structure what is asked for as text."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, Mapping):
        return "\n".join(f"- `{name}`: {_flat(inner)}" for name, inner in value.items())
    if isinstance(value, list):
        return "\n".join(f"- {_flat(inner)}" for inner in value)
    return "" if value is None else str(value)


def refuse_leaks(instruction: str, *, reference: str, hidden: str, shown: str) -> None:
    """Raise RuleBroken where an instruction reveals what it should not.

    `reference` is the focal body, `hidden` the source of the hidden tests, `shown` what the annotator sees anyway.
    """
    if run := copied(instruction, reference):
        raise RuleBroken("reveals_solution", f"{run!r} stands in the solution. Say what, not how.")
    for literal in expected_literals(hidden):
        if _stands_in(literal, instruction) and not _stands_in(literal, shown):
            raise RuleBroken("reveals_tests", f"{literal} is what a hidden test expects. Leave it out.")


def copied(text: str, body: str) -> str:
    """Return the first run of eight tokens of a body that a text holds, blanks and comments apart; "" where there is none."""
    tokens = _tokens(body)
    for start in range(len(tokens) - TOKENS + 1):
        window = tokens[start : start + TOKENS]
        if match := re.search(_pattern(window), text):
            return " ".join(match[0].split())
    return ""


def _tokens(body: str) -> list[str]:
    """Return the tokens of a body that Python can read, comments and line ends apart."""
    found: list[str] = []
    lines = io.StringIO("if 1:\n " + body.replace("\r\n", "\n"))  # a body begins behind its own indentation
    try:
        for token in tokenize.generate_tokens(lines.readline):
            if token.type not in SKIPPED and token.start[0] > 1:
                found.append(token.string)
    except (tokenize.TokenError, SyntaxError):
        pass  # what was read up to there is compared; a body that lies deeper may end in a dedent that fits nothing
    return found


def _pattern(window: Sequence[str]) -> str:
    """Return a pattern that finds the tokens whatever blanks lie between, and strings in whichever quotes."""
    pieces = [_piece(window[0])]
    for before, token in pairwise(window):
        between = r"\s+" if _wordy(before[-1]) and _wordy(token[0]) else r"\s*"
        pieces += [between, _piece(token)]
    first = r"(?<!\w)" if _wordy(window[0][0]) else ""
    last = r"(?!\w)" if _wordy(window[-1][-1]) else ""
    return first + "".join(pieces) + last


def _piece(token: str) -> str:
    if token[0] in "'\"" and len(token) > 1 and token[-1] == token[0]:
        return "[\"'`]+" + re.escape(token.strip(token[0])) + "[\"'`]+"
    return re.escape(token)


def _wordy(character: str) -> bool:
    return character.isalnum() or character == "_"


def expected_literals(tests: str) -> list[str]:
    """Return the literals that assertions compare with, as source, each once; what every text may say is left out."""
    try:
        tree = python.parse(tests)
    except python.SourceInvalid:
        return []
    return list(dict.fromkeys(_expected(tree)))


def _expected(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert) and isinstance(node.test, ast.Compare):
            for side in (node.test.left, *node.test.comparators):
                yield from _literals(side)


def _literals(node: ast.expr) -> Iterator[str]:
    """Yield a side of a comparison that is a literal: as a whole, and the texts inside one that is made of several."""
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return
    if _tells(value):
        yield ast.unparse(node)
    if not isinstance(node, ast.Constant):
        for each in ast.walk(node):
            if isinstance(each, ast.Constant) and isinstance(each.value, str) and _tells(each.value):
                yield ast.unparse(each)


def _tells(value: Any) -> bool:
    """Return whether a value says something: no plain one, no single character, no one-digit number."""
    if any(value is plain or (type(value) is type(plain) and value == plain) for plain in PLAIN):
        return False
    if isinstance(value, str | bytes):
        return len(value.strip()) >= 3
    if isinstance(value, int):
        return abs(value) >= 10
    return not (isinstance(value, list | dict | set | tuple) and len(value) == 0)


def _stands_in(literal: str, text: str) -> bool:
    """Return whether a text holds a literal, whatever blanks and quotes it is written with."""
    if literal[0] in "'\"":
        content = ast.literal_eval(literal)
        return re.search(rf"(?<!\w){re.escape(content)}(?!\w)", text) is not None
    tokens = _tokens(literal + "\n")
    return bool(tokens) and re.search(_pattern(tokens), text) is not None
