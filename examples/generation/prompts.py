"""PROMPTS: each in a file of its own, filled in, and known by the hash of what it was made from; pure but for reading."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from examples.llm import Prompt

FOLDER = Path(__file__).parent / "prompts"
NAMES = ("standalone", "write_tests", "repair_tests", "repair_program", "augmentation", "acceptance")
PLACE = re.compile(r"\{\{(\w+)\}\}")
SHORT = 12


@dataclass(frozen=True)
class Written:
    """A prompt that was filled in, and the version of its files."""

    prompt: Prompt
    version: str


def write(name: str, **values: str) -> Written:
    """Return the prompt of that name with its places filled. Raises KeyError for a place without a value.

    What is put in is not looked at again: a fragment that holds a place's name stays as it is.
    """
    system, user = _parts(name)
    filled = PLACE.sub(lambda match: values[match[1]], user)
    return Written(Prompt(system, filled.rstrip() + "\n"), version_of(name))


def again(rule: str, message: str, answer: str) -> str:
    """Return what a prompt ends with when its last answer broke a rule; one that changed nothing is not shown again."""
    name = "afresh" if rule == "same_again" else "again"
    values = {"message": message, "answer": f"\n{fenced(answer)}\n" if answer.strip() else ""}
    return PLACE.sub(lambda match: values[match[1]], _text(name))


def version_of(name: str) -> str:
    """Return the first characters of the sha256 of a prompt's file and of those that are put behind it."""
    whole = "\0".join(_text(each) for each in (name, "again", "afresh"))
    return hashlib.sha256(whole.encode()).hexdigest()[:SHORT]


def versions() -> dict[str, str]:
    """Return the versions of all prompts by name."""
    return {name: version_of(name) for name in NAMES}


def fenced(text: str, label: str = "python") -> str:
    """Return a text between fences that nothing in it can close."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{label}\n{text.rstrip()}\n{fence}"


def _parts(name: str) -> tuple[str, str]:
    system, _, user = _text(name).partition("\n---\n")
    return system.strip(), user.strip()


@cache
def _text(name: str) -> str:
    return (FOLDER / f"{name}.md").read_text(encoding="utf-8")
