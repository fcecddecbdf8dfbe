"""STANDALONE: how a program differs from its source, in the paper's three kinds; pure.

CodeBenchGen (https://arxiv.org/abs/2404.00566, section 3.1) replaces imports of the repository's own modules, calls of
external services, and reading of files.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from difflib import SequenceMatcher
from typing import Any, Literal

Kind = Literal["local import", "external API", "file reading", "other"]

EXTERNAL = re.compile(
    r"\b(?:requests|urllib\d?|http|httpx|aiohttp|socket|boto3?|ftplib|smtplib|paramiko|redis|pymongo|psycopg2?|grpc"
    r"|websockets?|session|api|client|url(?:open|retrieve)?)\b[\w.]*[.(]|\bimport[ \t]+(?:requests|urllib|socket|boto)",
    re.IGNORECASE,
)
FILES = re.compile(
    r"\bopen\s*\(|\.(?:read|readlines?|read_text|read_bytes|read_csv)\s*\(|\b(?:load|loadtxt)\s*\("
)
IMPORT = re.compile(r"^[ \t]*(?:from[ \t]+[\w.]+[ \t]+import\b|import[ \t])")


@dataclass(frozen=True)
class Adaptation:
    """A piece that was changed: its kind, the lines before and the lines now ("" where there were or are none)."""

    kind: Kind
    before: str
    after: str

    def as_json(self) -> dict[str, Any]:
        """Return it as plain values, as Round.adaptations keeps it."""
        return asdict(self)


def adaptations(source: str, program: str) -> list[Adaptation]:
    """Return what was changed from a source to a program, in the order of the program."""
    before, after = source.splitlines(), program.splitlines()
    matcher = SequenceMatcher(a=before, b=after, autojunk=False)
    return [
        Adaptation(_kind(before[i1:i2], after[j1:j2]), "\n".join(before[i1:i2]), "\n".join(after[j1:j2]))
        for tag, i1, i2, j1, j2 in matcher.get_opcodes()
        if tag != "equal" and "".join((*before[i1:i2], *after[j1:j2])).strip()
    ]


def _kind(before: Sequence[str], after: Sequence[str]) -> Kind:
    """Return what the lines were about: what was taken away decides, and where nothing was, what came."""
    text = "\n".join(before).strip() or "\n".join(after)
    if FILES.search(text):
        return "file reading"
    if EXTERNAL.search(text):
        return "external API"
    if any(IMPORT.match(line) for line in before) or not "".join(before).strip():
        return "local import"  # taken out, or put here in the place of one: a helper that was somewhere else
    return "other"
