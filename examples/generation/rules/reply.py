"""RULES: of a reply as a whole: it is complete, holds one block of code, and asks for nothing to be run; pure."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from examples.generation.rules.base import Allowed, RuleBroken, lacking, parsed
from examples.llm import Reply

FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})[ \t]*([\w+.#-]*)")
LONGEST = 200_000  # characters of a reply
SHELLS = (
    "sh",
    "bash",
    "shell",
    "zsh",
    "console",
    "terminal",
    "shell-session",
    "powershell",
    "bat",
    "cmd",
    "fish",
)
PYTHONS = ("", "python", "python3", "py", "pycon")
INSTALL = re.compile(
    r"\b(?:pip3?|conda|mamba|uv|poetry|apt(?:-get)?|npm)[ \t]+(?:pip[ \t]+)?(?:install|add)[ \t]+([^\n`;&|]+)"
)
COMMAND = re.compile(
    r"^[ \t]*[$!%][ \t]*\w+|^[ \t]*(?:sudo|curl|wget|chmod|rm[ \t]+-|bash[ \t]+-c|sh[ \t]+-c|git[ \t]+clone)\b.*$",
    re.MULTILINE,
)
REFUSAL = re.compile(
    r"\b(?:I(?: am|'m)? (?:sorry|unable)|I (?:can(?:no|')t|won't|will not|must decline)|as an AI)\b",
    re.IGNORECASE,
)
PACKAGE = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


@dataclass(frozen=True)
class Wish:
    """A package that a reply asks for, and the line that does."""

    package: str
    said: str


def code_of(reply: Reply) -> str:
    """Return the one block of Python code of a reply, ended by a line break. Raises RuleBroken."""
    text = _whole(reply)
    outside, blocks = blocks_of(text)
    _refuse_commands(text, outside, blocks)
    code = [body for label, body in blocks if label in PYTHONS]
    if len(code) != 1:
        if not code and REFUSAL.search(text):
            raise RuleBroken("refusal", f"the model declines: {_start(text)}")
        found = f"{len(code)} blocks of code" if code else "no block of code between fences"
        raise RuleBroken("one_code_block", f"the reply holds {found}. Give one block, ```python … ```.")
    return code[0].rstrip() + "\n"


def json_of(reply: Reply) -> dict[str, Any]:
    """Return the JSON object that a reply is, or holds in a block. Raises RuleBroken."""
    text = _whole(reply)
    outside, blocks = blocks_of(text)
    _refuse_commands(text, outside, blocks)
    bodies = [body for label, body in blocks if label in ("", "json")]
    try:
        found = json.loads(bodies[0] if len(bodies) == 1 else text)
    except ValueError as error:
        if REFUSAL.search(text):
            raise RuleBroken("refusal", f"the model declines: {_start(text)}") from error
        raise RuleBroken("incomplete_instruction", "the reply is not one JSON object.") from error
    if not isinstance(found, dict):
        raise RuleBroken("incomplete_instruction", "the reply is JSON, but no object.")
    return found


def wishes_of(reply: Reply, allowed: Allowed) -> list[Wish]:
    """Return the packages that a reply asks to be installed, or imports and lacks, each once; nothing of it is ever run."""
    wishes: dict[str, Wish] = {}
    for match in INSTALL.finditer(reply.text):
        for word in match[1].split():
            named = PACKAGE.match(word)
            if named and not word.startswith("-"):
                wishes.setdefault(named[0], Wish(named[0], match[0].strip()))
    for name, line in _lacking(reply, allowed):
        module = name.partition(".")[0]
        wishes.setdefault(module, Wish(module, f"import {name} in line {line}"))
    return list(wishes.values())


def _lacking(reply: Reply, allowed: Allowed) -> list[tuple[str, int]]:
    """Return what the reply's code imports and lacks; nothing of a reply that holds no code that can be read."""
    try:
        found = lacking(parsed(code_of(reply)), allowed)
    except RuleBroken:
        return []
    return [(name, line) for name, line in found if PACKAGE.match(name)]


def blocks_of(text: str) -> tuple[str, list[tuple[str, str]]]:
    """Return what stands outside fences, and the label and text of each block; one that is not closed is none.

    Line by line: a pattern over all would look from each fence to the end of a reply that closes none.
    """
    outside: list[str] = []
    blocks: list[tuple[str, str]] = []
    fence, label, start = "", "", 0
    lines = text.splitlines(keepends=True)
    for at, line in enumerate(lines):
        found = FENCE.match(line)
        if not fence and found:
            fence, label, start = found[1], found[2].lower(), at
        elif fence and line.strip() == fence:
            blocks.append((label, "".join(lines[start + 1 : at])))
            fence = ""
        elif not fence:
            outside.append(line)
    return "".join(outside + (lines[start:] if fence else [])), blocks


def _whole(reply: Reply) -> str:
    """Return the text of a reply that was not cut off, its lines ended alike. Raises RuleBroken."""
    if reply.finish == "length":
        raise RuleBroken("truncated", "the reply was cut off at its longest. Write less around the code.")
    if len(reply.text) > LONGEST:
        raise RuleBroken("one_code_block", f"the reply has more than {LONGEST} characters. Write less.")
    return reply.text.replace("\r\n", "\n")


def _refuse_commands(text: str, outside: str, blocks: list[tuple[str, str]]) -> None:
    """Raise RuleBroken for a package to install (`package_wish`) or any other command (`shell_command`)."""
    if install := INSTALL.search(text):
        raise RuleBroken("package_wish", f"the reply asks for {install[0].strip()!r}; nothing is installed.")
    shells = [body for label, body in blocks if label in SHELLS]
    command = (
        shells[0].strip() if shells else (found[0].strip() if (found := COMMAND.search(outside)) else "")
    )
    if command or shells:
        raise RuleBroken("shell_command", f"the reply asks for the command {_start(command)}; none is run.")


def _start(text: str) -> str:
    return repr(" ".join(text.split())[:120])
