"""PROMPTS: each in a file of its own, filled in, and known by the hash of what it was made from; pure but for reading."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from examples.llm import Prompt, prompting
from examples.llm.prompting import fenced

FOLDER = Path(__file__).parent / "prompts"
NAMES = ("standalone", "write_tests", "repair_tests", "repair_program", "augmentation", "acceptance")


@dataclass(frozen=True)
class Written:
    """A prompt that was filled in, and the version of its files."""

    prompt: Prompt
    version: str


def write(name: str, **values: str) -> Written:
    """Return the prompt of that name with its places filled. Raises KeyError for a place without a value."""
    return Written(prompting.fill(_file(name), values), version_of(name))


def again(rule: str, message: str, answer: str) -> str:
    """Return what a prompt ends with when its last answer broke a rule; one that changed nothing is not shown again."""
    name = "afresh" if rule == "same_again" else "again"
    values = {"message": message, "answer": f"\n{fenced(answer)}\n" if answer.strip() else ""}
    return prompting.put_in(prompting.text_of(_file(name)), values)


def version_of(name: str) -> str:
    """Return the first characters of the sha256 of a prompt's file and of those that are put behind it."""
    return prompting.version_of(*(_file(each) for each in (name, "again", "afresh")))


def versions() -> dict[str, str]:
    """Return the versions of all prompts by name."""
    return {name: version_of(name) for name in NAMES}


def _file(name: str) -> Path:
    return FOLDER / f"{name}.md"
