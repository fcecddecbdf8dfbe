"""manage.py generate_examples: from a file to examples, in this process; what is wrong is said before anything is done."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from examples.models import Dataset, Fragment, GenerationRun
from tests.examples.generation.asking import asked
from tests.examples.generation.replies import NAMES, code, instruction, script

SOURCE = '''def untranslateName(s):
    """Undo Python conversion of CL parameter or variable name."""
    s = s.replace("DOT", ".")
    s = s.replace("DOLLAR", "$")
    if s[:2] == "PY":
        s = s[2:]
    return s.replace(".PY", ".")
'''
REPLIES = {
    "untranslateName": {
        "write_tests": [code(NAMES)],
        "acceptance": [instruction("Undo the conversion of a name.")],
    }
}


def run_command(*words: object) -> str:
    out = io.StringIO()
    call_command("generate_examples", *map(str, words), stdout=out)
    return out.getvalue()


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A file with one function."""
    path = tmp_path / "names.py"
    path.write_text(SOURCE)
    return path


@pytest.mark.docker
@pytest.mark.django_db(transaction=True)
def test_a_file_becomes_an_example_and_its_replay_the_same_without_an_endpoint(
    warm: None, source: Path
) -> None:
    start = ("start", "names", "--from", source, "--dataset", "made", "--licence", "MIT", "--model", "tiny")
    with asked(script(REPLIES)):
        said = run_command(*start, "--budget", "1.5", "--prompt-price", "0.15", "--environment", "plain")
    assert "1 untranslateName: accepted" in said
    assert "300 tokens, 0.0000 charged" in said
    run = GenerationRun.objects.get(name="names")
    assert (run.budget_micros, run.prompt_micros, run.charged_micros) == (1_500_000, 150_000, 30)
    assert "1 untranslateName: accepted" in run_command("replay", "names", "--as", "names-again")
    texts = [
        list(each.fragments.get().rounds.values_list("step", "text", "call__reply", "call__request_hash"))
        for each in GenerationRun.objects.order_by("pk")
    ]
    assert texts[0] == texts[1]


@pytest.mark.django_db
def test_a_run_without_an_endpoint_is_refused_and_leaves_no_run(source: Path) -> None:
    with pytest.raises(CommandError, match="BENCHWRIGHT_LLM_URL"):
        run_command("start", "names", "--from", source, "--dataset", "made", "--model", "tiny")
    assert not GenerationRun.objects.exists()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("resume", "nothing"), "no generation run nothing"),
        (("start", "a run", "--from", "x.py", "--dataset", "made"), "letters, digits"),
        (("start", "names", "--from", "x.py", "--dataset", "made", "--environment", "none"), "called none"),
        (("start", "names", "--from", "x.py", "--dataset", "made", "--budget", "much"), "invalid"),
    ],
)
def test_what_is_wrong_is_said(words: tuple[str, ...], message: str) -> None:
    with pytest.raises(CommandError, match=message):
        run_command(*words)


@pytest.mark.django_db
def test_a_run_can_be_stopped_and_left_to_workers(source: Path) -> None:
    start = ("start", "names", "--from", source, "--dataset", "made", "--model", "tiny", "--later")
    with asked(script(REPLIES)):
        assert "1 fragments wait" in run_command(*start)
    assert Dataset.objects.get().name == "made"
    assert Fragment.objects.get().state == "waiting"
    assert "Stopped" in run_command("stop", "names")
    assert "is not running" in run_command("stop", "names")
    assert "1 fragments wait" in run_command("resume", "names", "--budget-tokens", "1000", "--later")
    assert GenerationRun.objects.get().budget_tokens == 1000
