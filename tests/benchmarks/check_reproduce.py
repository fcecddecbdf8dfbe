"""Published files through the runner, as `manage.py reproduce` runs them: known figures, twice the same, every mode alike.

    python -m tests.benchmarks.check_reproduce [--whole] [formats ...]

1. Every format's whole file in forks of one process: the known figure, who differs from the record, the limit.
2. The CodeGen-16B file by a bare fork for each sample, uncontained but for one hardened container around all: whose
   verdict differs from ours by name, and how much longer we took.
3. The same batch twice: 0 outcomes differ. In the other modes: 0 differ. Through the database, as the interactive and
   the bulk queue run it: 0 differ. These run a part of each file (all of it with --whole, half an hour more).

Exit 1 where a figure is missed or anything differs.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.benchmarks.figures import machine
from tests.benchmarks.prepared import database, prepare, provide_environments
from tests.benchmarks.records import DATA

FILES = {
    "humaneval": ["humaneval/HumanEval.jsonl.gz"],
    "mbpp": ["mbpp/mbpp.jsonl"],
    "mbpp-sanitized": ["mbpp/sanitized-mbpp.json"],
    "humaneval-samples": [
        "humaneval/HumanEval.jsonl.gz",
        "samples/humaneval_codellama_7b_results.jsonl",
        "samples/humaneval_qwen2.5-coder_7b_results.jsonl",
    ],
    "quixbugs": ["quixbugs/quixbugs.jsonl"],
    "repost": ["repost/repost_eval.json.gz"],
    "refactory": ["refactory/problems.json", "refactory/submissions.jsonl.gz"],
    "codet-samples": [
        "samples/codet_humaneval_prompts.jsonl.gz",
        "samples/codet_humaneval_codegen16b_n100.jsonl.gz",
    ],
}
# Of each file, every so manieth sample is run again: by the first number in forks, by the second in boxes of their own.
AGAIN = {
    "humaneval": (1, 4),
    "mbpp": (4, 40),
    "humaneval-samples": (1, 4),
    "quixbugs": (3, 6),
    "repost": (1, 5),
    "refactory": (4, 60),
    "codet-samples": (16, 400),
}
BARE = "codet-samples"
SLOWER_AT_MOST = 1.15


class Checked:
    """What did not hold, by name."""

    def __init__(self) -> None:
        self.missed: list[str] = []

    def note(self, what: str, holds: bool) -> None:
        """Print whether it holds and remember what does not."""
        print(f"-- {what}: {'holds' if holds else 'DOES NOT HOLD'}", flush=True)
        if not holds:
            self.missed.append(what)


def reproduce(name: str, **options: Any) -> bool:
    """Run the command on a format's files and return whether it ended with 0."""
    from django.core.management import call_command

    try:
        call_command("reproduce", name, *(str(DATA / file) for file in FILES[name]), **options)
    except SystemExit as left:
        return not left.code
    return True


def figures(names: Sequence[str], room: Path, checked: Checked) -> dict[str, float]:
    """Run each whole file and return how long each took, in seconds."""
    seconds = {}
    for name in names:
        print(f"\n== {name}", flush=True)
        began = time.monotonic()
        held = reproduce(name, out=room / f"{name}.jsonl")
        seconds[name] = time.monotonic() - began
        checked.note(f"{name}: the known figures", held)
    return seconds


def bare(room: Path, ours: float, checked: Checked) -> None:
    """Run the CodeGen-16B file by bare forks and compare verdicts and time."""
    from runner.environments.recipe import recipes
    from runner.reproducing.formats import FORMATS
    from runner.reproducing.verdicts import read
    from runner.sandbox.base import Limits
    from tests.benchmarks.bench_peers import contained

    form = FORMATS[BARE]
    paths = [DATA / file for file in FILES[BARE]]
    samples = list(form.read(paths, Limits.for_cpu(form.cpu_seconds)))
    verdicts = read(room / f"{BARE}.jsonl")
    with contained(recipes()["plain"].tag, None) as methods:
        answer = methods[0].evaluate([_published(sample) for sample in samples])
    passed = {sample.id for sample, right in zip(samples, answer.passed, strict=True) if right}
    print(f"bare fork: {len(passed):,} of {len(samples):,} pass, {answer.seconds:.1f} s; ours {ours:.1f} s")
    for sample in samples:
        if (sample.id in passed) is not (verdicts[sample.id] == "PASSED"):
            print(
                f"  {sample.id}: bare fork {'passed' if sample.id in passed else 'not passed'}, ours {verdicts[sample.id]}"
            )
    held = ours <= SLOWER_AT_MOST * answer.seconds
    checked.note(f"{ours / answer.seconds:.2f} times a bare fork, at most {SLOWER_AT_MOST}", held)


def _published(sample: Any) -> dict[str, str]:
    """Return a sample as the contained evaluators take it."""
    entry = sample.job.block.removeprefix("check(").rstrip(")\n")
    return {"prompt": sample.job.program, "completion": "", "test": sample.job.tests, "entry_point": entry}


def again(names: Sequence[str], room: Path, checked: Checked, *, whole: bool) -> None:
    """Run parts once more, in the first mode, in the others, and through the database, and compare outcomes."""
    from runner.modes import MODES

    for name in names:
        if name not in AGAIN:
            continue
        forks, boxes = (1, 1) if whole else AGAIN[name]
        first = room / f"{name}.jsonl"
        ways = [("the same batch again", forks, {"mode": MODES[0]})]
        ways += [
            (f"mode {mode}", boxes if mode == MODES[-1] else forks, {"mode": mode}) for mode in MODES[1:]
        ]
        ways += [
            ("stored, bulk", forks, {"store": "bulk"}),
            ("stored, interactive", boxes, {"store": "interactive"}),
        ]
        for what, every, options in ways:
            print(f"\n== {name}, {what}, every {every}", flush=True)
            checked.note(f"{name}, {what}", reproduce(name, every=every, against=first, **options))


def main() -> int:
    """Check what was asked for; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--whole", action="store_true", help="compare whole files, not parts of them")
    parser.add_argument("names", nargs="*", help=f"of {', '.join(FILES)}")
    asked = parser.parse_args()
    if not DATA.is_dir():
        print("The published files are not at hand (../shared/data), so there is nothing to reproduce.")
        return 0
    prepare()
    print(f"{database()}; {machine()}")
    provide_environments()
    names = asked.names or list(FILES)
    checked = Checked()
    with tempfile.TemporaryDirectory(prefix="benchwright-reproduce-") as folder:
        room = Path(folder)
        seconds = figures(names, room, checked)
        if BARE in names:
            bare(room, seconds[BARE], checked)
        again(names, room, checked, whole=asked.whole)
    print("\nEverything holds." if not checked.missed else "\nDoes not hold: " + "; ".join(checked.missed))
    return 1 if checked.missed else 0


if __name__ == "__main__":
    status = main()
    sys.exit(status)
