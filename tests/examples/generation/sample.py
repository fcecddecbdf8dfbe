"""The records of the CodeSearchNet sample that the replies are for."""

from __future__ import annotations

from pathlib import Path

from examples.generation.fragments.base import SourceFile
from examples.generation.fragments.codesearchnet import read_codesearchnet
from tests.examples.generation.replies import REPLIES

SAMPLE = Path(__file__).parents[4] / "shared/data/codesearchnet/python_train_sample.jsonl"


def sample() -> list[SourceFile]:
    """Return them in the order of the file."""
    with SAMPLE.open("rb") as stream:
        files = [each for each in read_codesearchnet(stream) if isinstance(each, SourceFile)]
    return [each for each in files if each.name in REPLIES]
