"""RULES: what a reply must be before anything of it is executed; each has a code, a sentence, and its reason as message."""

from __future__ import annotations

from examples.generation.rules.base import RULES, Allowed, RuleBroken
from examples.generation.rules.program import check_program
from examples.generation.rules.reply import code_of, json_of, wishes_of
from examples.generation.rules.tests import check_tests

__all__ = [
    "RULES",
    "Allowed",
    "RuleBroken",
    "check_program",
    "check_tests",
    "code_of",
    "json_of",
    "wishes_of",
]
