"""Every format that can be reproduced, by its name."""

from __future__ import annotations

from runner.reproducing import humaneval, mbpp, quixbugs, refactory, repost
from runner.reproducing.base import Format

FORMATS: dict[str, Format] = {
    each.name: each for module in (humaneval, mbpp, quixbugs, refactory, repost) for each in module.FORMATS
}
