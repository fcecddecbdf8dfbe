import shutil
import subprocess
import sys

import pytest

from examples.assembly import Answer, assemble, empty_program
from examples.demo.records import FILE, as_jsonl, records
from examples.importing.detect import read
from examples.masking import fill, test_source, with_tests
from examples.visible import visible_part

RECORDS = {record.key: record for record in records()}
FLAWS = ("under-specified", "over-strict test", "wrong reference", "flaky")
SCIENCE = "benchwright/python-science:3.13"


def status(record, program: str, *, tests: str | None = None, block: str | None = None) -> int:
    """Return the exit status of our own demo code, in a container where it needs what this process has not."""
    text = test_source(record.tests) if tests is None else tests
    whole = f"{program}\n{text}\n{record.block if block is None else block}"
    command = [sys.executable, "-c", whole]
    if "pandas" in record.needs:
        if (
            not shutil.which("docker")
            or subprocess.run(["docker", "image", "inspect", SCIENCE], capture_output=True).returncode
        ):
            pytest.skip(f"needs pandas, which the image {SCIENCE} has")
        command = ["docker", "run", "--rm", "--network", "none", SCIENCE, "python3", "-c", whole]
    return subprocess.run(command, capture_output=True, timeout=60, check=False).returncode


def answered(key: str, answer: str) -> int:
    record = RECORDS[key]
    assembled = assemble(record.context, record.gap, Answer(answer))
    assert assembled.function_found
    assert assembled.error is None
    return status(record, assembled.program)


def test_the_file_is_what_the_sources_make_and_comes_in_whole():
    assert FILE.read_text() == as_jsonl()
    assert list(read(FILE.open("rb"))) == list(RECORDS.values())


def test_there_is_enough_of_everything():
    assert len(RECORDS) >= 18
    assert len({record.provenance["domain"] for record in RECORDS.values()}) >= 6
    assert {name for record in RECORDS.values() for name in record.needs} == {"numpy", "pandas", "requests"}
    assert any("." in record.focal_name for record in RECORDS.values())
    assert all(record.licence == "MIT" and record.total >= 5 for record in RECORDS.values())
    for record in RECORDS.values():
        assert [line.partition(":")[0] for line in record.instruction.splitlines()] == [
            "Functionality",
            "Inputs",
            "Outputs",
        ]
        assert 15 <= len(record.context.splitlines()) <= 60


def test_four_are_flawed_and_only_provenance_says_so():
    flawed = [record for record in RECORDS.values() if "flaw" in record.provenance]
    assert sorted(record.provenance["flaw"].partition(":")[0] for record in flawed) == sorted(FLAWS)
    shown = "".join(f"{record.title}{record.instruction}{record.context}" for record in flawed).lower()
    assert not any(
        word in shown for word in ("flaw", "flaky", "on purpose", "under-specified", "over-strict")
    )


@pytest.mark.parametrize("key", [key for key in RECORDS if key != "draw_winners"])
def test_the_reference_passes_its_tests_and_its_visible_part_and_an_empty_body_fails(key):
    record = RECORDS[key]
    program = fill(record.context, record.gap, record.reference)
    part = visible_part(record.test_source, record.expected, record.block, count=record.visible)
    assert status(record, program) == 0
    assert status(record, program, tests=part.text, block=part.block) == 0
    assert status(record, empty_program(record.context, record.gap)) == 1
    assert part.count < part.total


def test_context_reference_and_tests_give_the_source_back():
    for key, record in RECORDS.items():
        source = (FILE.parent / "sources" / f"{key}.py").read_text()
        assert with_tests(record.context, record.gap, record.reference, record.tests) == source


def test_a_right_answer_in_another_order_fails_the_over_strict_test():
    answer = """
def group_anagrams(words):
    groups = {}
    for word in words:
        groups.setdefault(letters(word), []).append(word)
    return [group for group in groups.values() if len(group) > 1]
"""
    assert answered("group_anagrams", answer) == 1
    assert (
        answered("group_anagrams", answer.replace("return [", "return sorted(").replace("> 1]", "> 1)")) == 0
    )


def test_the_median_of_the_instruction_fails_where_the_reference_passes():
    answer = "import statistics\ndef median_price(self, district):\n    prices = self.prices(district)\n    return {} if prices else None\n"
    assert answered("median_price", answer.format("statistics.median(prices)")) == 1
    assert answered("median_price", answer.format("statistics.median_low(prices)")) == 0


def test_a_sensible_badge_fails_where_the_instruction_is_silent():
    answer = """
def short_name(full_name):
    words = tidy(full_name).split()
    at = surname_at(words) if words else 0
    return " ".join([*words[:1], *(word[0] + "." for word in words[1:at]), *words[max(at, 1):]])
"""
    assert answered("short_name", answer) == 1


def test_the_flaky_example_passes_five_repeats_with_p_below_one_in_a_thousand():
    record = RECORDS["draw_winners"]
    namespace = {"__name__": "demo"}
    exec(fill(record.context, record.gap, record.reference) + record.test_source, namespace)
    namespace["test_nobody_wins_twice_in_one_draw"]()
    passes = 0
    for _ in range(4000):
        try:
            namespace["test_different_draws_have_different_winners"]()
        except AssertionError:
            continue
        passes += 1
    assert (5 * 4 * 3 * 2 / 5**4) ** 5 < 0.001
    assert 0.13 < passes / 4000 < 0.25  # theory 0.192, six standard errors and more each way


def test_the_slow_example_sleeps_between_assertions():
    record = RECORDS["token_bucket"]
    assert record.test_source.count("time.sleep(0.4)") == 4
    assert "one by one" in record.title
