"""Published samples through every mode: each must come to the same outcome, test by test and row by row.

    python -m tests.benchmarks.check_modes [--every N] [formats ...]

Model samples, students' programs and repaired bugs; a program that several samples share is run once. Every N-th is run in
forks of one process in both ways, and in a box of its own; what differs is printed. A difference is explained where only a
clock decided it: a limit that was reached in one mode, or a test that the limit cut off. Exit 1 where one is not.
"""

from __future__ import annotations

import argparse
import secrets
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from typing import Any

from runner.outcome import Measurement, Outcome, judge
from tests.benchmarks.figures import machine
from tests.benchmarks.records import DATA

FILES = {
    "humaneval-samples": [
        "humaneval/HumanEval.jsonl.gz",
        "samples/humaneval_codellama_7b_results.jsonl",
        "samples/humaneval_qwen2.5-coder_7b_results.jsonl",
    ],
    "codet-samples": [
        "samples/codet_humaneval_prompts.jsonl.gz",
        "samples/codet_humaneval_codegen16b_n100.jsonl.gz",
    ],
    "quixbugs": ["quixbugs/quixbugs.jsonl"],
    "refactory": ["refactory/problems.json", "refactory/submissions.jsonl.gz"],
}
EVERY = {"humaneval-samples": 4, "codet-samples": 160, "quixbugs": 2, "refactory": 40}
AT_ONCE = 2
CLOCKS = {Outcome.TIMEOUT_CPU, Outcome.TIMEOUT_WALL}


@dataclass(frozen=True)
class Came:
    """What came of one sample in one mode, as far as modes must agree."""

    outcome: Outcome
    tests: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]

    @classmethod
    def of(cls, measurement: Measurement, expected: Sequence[str]) -> Came:
        """Return it without clocks."""
        judged = judge(measurement, expected)
        rows = tuple((row.test, row.assertion, str(row.outcome), row.line) for row in measurement.rows)
        return cls(judged.outcome, tuple(str(row.outcome) for row in judged.tests), rows)

    def is_alike(self, other: Came) -> bool:
        """Return whether both say the same."""
        return self == other

    def is_explained(self, other: Came) -> bool:
        """Return whether a clock made the difference."""
        return bool({self.outcome, other.outcome} & CLOCKS)


def samples(name: str, every: int) -> list[Any]:
    """Return every so manieth sample of the published files of a format, the first of those with the same program."""
    from runner.reproducing.formats import FORMATS
    from runner.sandbox.base import Limits

    form = FORMATS[name]
    read = form.read([DATA / file for file in FILES[name]], Limits.for_cpu(form.cpu_seconds))
    different = {(sample.job.program, sample.job.tests): sample for sample in reversed(list(read))}
    return list(islice(reversed(different.values()), 0, None, every))


def forked(engine: Any, mode: str, image: str, jobs: Sequence[Any]) -> dict[int, Came | None]:
    """Return what came of the jobs in forks of one process; None where what a job needs is not there."""
    from runner.sandbox.reach import fits
    from runner.sandbox.zygote import Kind, Line

    places = [place for place, job in enumerate(jobs) if fits(job, mode)]
    found: dict[int, Came | None] = dict.fromkeys(range(len(jobs)))
    by_kind: dict[Any, list[int]] = {}
    for place in places:
        by_kind.setdefault(Kind.of(jobs[place], image), []).append(place)
    for kind, of_kind in by_kind.items():
        line = Line(engine, mode, kind, keeper=f"check-{secrets.token_hex(6)}")
        try:
            for ran in line.run([jobs[place] for place in of_kind]):
                if ran is not None and ran.measurement is not None and "denied" not in ran.measurement.facts:
                    place = of_kind[ran.place]
                    found[place] = Came.of(ran.measurement, jobs[place].expected)
        finally:
            line.close()
    return found


def single(pool: Any, image: str, jobs: Sequence[Any]) -> dict[int, Came]:
    """Return what came of the jobs in boxes of their own, two at once."""

    def run(job: Any) -> Came:
        name = f"check-{secrets.token_hex(6)}"
        measured = pool.run(job, image=image, name=name, on_started=lambda: None, on_row=lambda _: None)
        return Came.of(measured, job.expected)

    with ThreadPoolExecutor(AT_ONCE) as threads:
        return dict(enumerate(threads.map(run, jobs)))


def differences(
    ids: Sequence[str], one: dict[int, Came], other: dict[int, Came | None]
) -> Iterator[tuple[str, Came, Came]]:
    """Yield the samples of which both modes said something, and not the same."""
    for place, name in enumerate(ids):
        theirs = other[place]
        if theirs is not None and not one[place].is_alike(theirs):
            yield name, one[place], theirs


def main() -> int:
    """Compare, print, return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help=f"of {', '.join(FILES)}")
    parser.add_argument("--every", type=int, help="run each N-th sample (default: a few hundred in all)")
    asked = parser.parse_args()
    if not DATA.is_dir():
        print("The published files are not at hand (../shared/data), so there is nothing to compare.")
        return 0
    from tests.benchmarks.prepared import prepare

    prepare()
    from runner.environments.recipe import recipes
    from runner.modes import HOLDS, MODES, tried
    from runner.sandbox.engine import Engine
    from runner.sandbox.pool import Pool

    print(machine())
    engine = Engine()
    image = engine.image_id(recipes()["plain"].tag)
    pool, unexplained = Pool(engine, {image: 2 * AT_ONCE}), 0
    try:
        for name in asked.names or FILES:
            chosen = samples(name, asked.every or EVERY[name])
            jobs, ids = [sample.job for sample in chosen], [sample.id for sample in chosen]
            began = time.monotonic()
            alone = single(pool, image, jobs)
            print(f"{name}: {len(jobs)} samples; single {time.monotonic() - began:.1f} s", flush=True)
            print(f"  {dict(Counter(str(came.outcome) for came in alone.values()))}")
            for mode in MODES[:-1]:
                shown = tried(engine, mode, image)
                if shown != HOLDS:
                    print(f"  {mode} does not hold here: {shown}")
                    continue
                began = time.monotonic()
                came = forked(engine, mode, image, jobs)
                seconds = time.monotonic() - began
                down = sum(each is None for each in came.values())
                differ = list(differences(ids, alone, came))
                print(f"  {mode}: {seconds:.1f} s, {len(differ)} differ, {down} run in a box of their own")
                for sample, ours, theirs in differ:
                    why = "a clock decided" if ours.is_explained(theirs) else "UNEXPLAINED"
                    unexplained += not ours.is_explained(theirs)
                    print(
                        f"    {sample}: single {ours.outcome} {ours.tests}, {mode} {theirs.outcome} {theirs.tests}: {why}"
                    )
    finally:
        pool.close()
    print(f"unexplained disagreements: {unexplained}")
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
