"""Prompts in files: a system part, a line of three dashes, and a user part with {{places}}; pure but for reading."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from examples.llm.base import Prompt

PLACE = re.compile(r"\{\{(\w+)\}\}")
SHORT = 12


def fill(path: Path, values: Mapping[str, str]) -> Prompt:
    """Return the prompt of a file with its places filled. Raises KeyError for a place without a value."""
    system, _, user = text_of(path).partition("\n---\n")
    return Prompt(system.strip(), put_in(user.strip(), values).rstrip() + "\n")


def put_in(text: str, values: Mapping[str, str]) -> str:
    """Return a text with its places filled. What is put in is not looked at again: it may hold a place's name itself."""
    return PLACE.sub(lambda found: values[found[1]], text)


def version_of(*paths: Path) -> str:
    """Return the first characters of the sha256 of files that make a prompt."""
    whole = "\0".join(text_of(path) for path in paths)
    return hashlib.sha256(whole.encode()).hexdigest()[:SHORT]


def fenced(text: str, label: str = "python") -> str:
    """Return a text between fences that nothing in it can close."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{label}\n{text.rstrip()}\n{fence}"


@cache
def text_of(path: Path) -> str:
    """Return a prompt file's text, read once."""
    return path.read_text(encoding="utf-8")
