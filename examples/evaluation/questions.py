"""EVALUATE: what a model is asked for a version: the instruction, context and visible tests that an annotator sees."""

from __future__ import annotations

from pathlib import Path

from examples.jobs import empty_program, visible_of
from examples.languages.ways import ways
from examples.llm import Prompt, prompting
from examples.llm.prompting import fenced
from examples.masking import PLACEHOLDER
from examples.models import Version

FILE = Path(__file__).parent / "prompts" / "solve.md"


def question(version: Version, *, visible_tests: bool) -> Prompt:
    """Return the prompt for a version. `visible_tests` says whether its visible tests are shown, as a study says it.

    Never the reference, and of the tests no more than an annotator is shown.
    """
    language = ways(version.language).title
    shown = visible_of(version) if visible_tests else None
    tests = ""
    if shown is not None and shown.text.strip():
        words = f"{shown.count} of {shown.total} assertions of the tests:"
        tests = f"{words}\n\n{fenced(shown.text, version.language)}"
    packages = ", ".join(f"{name} {number}" for name, number in sorted(version.environment.packages.items()))
    number = version.environment.language_version
    values = {
        "instruction": version.instruction.strip(),
        "language": f"{language} {number}".strip(),
        "function": version.focal_name,
        "placeholder": PLACEHOLDER,
        "program": fenced(empty_program(version), version.language),
        "environment": f"These packages are installed: {packages}."
        if packages
        else "No packages are installed.",
        "tests": tests,
    }
    return prompting.fill(FILE, values)


def prompt_version() -> str:
    """Return the first characters of the sha256 of the prompt's file; an evaluation records it."""
    return prompting.version_of(FILE)
