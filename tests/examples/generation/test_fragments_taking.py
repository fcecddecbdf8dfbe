import io
import zipfile

import pytest
from django.core.management import CommandError, call_command

from examples.generation.fragments.base import SourceRefused
from examples.generation.fragments.reading import read_path, read_stream, read_text
from examples.generation.fragments.runs import plain_run
from examples.generation.fragments.screening import Wanted
from examples.generation.fragments.taking import take_fragments
from examples.models import AuditEntry, Fragment

pytestmark = pytest.mark.django_db
PACKAGE = {
    "pack/near.py": "LIMIT = 2\nUNUSED = 1\n",
    "pack/a.py": (
        "import json\nfrom pack.near import LIMIT\n\n\ndef first(items):\n"
        '    """Give the first.\n\n    >>> first([1, 2, 3])\n    [1, 2]\n    """\n    return items[:LIMIT]\n\n\n'
        "def bare(x):\n    return json.dumps(x)\n"
    ),
    "pack-1.dist-info/METADATA": "Name: pack\nVersion: 1\nLicense-Expression: MIT\n",
}


@pytest.fixture
def wheel(tmp_path):
    path = tmp_path / "pack-1-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in PACKAGE.items():
            archive.writestr(name, text)
    return path


def find(*args, **options):
    out = io.StringIO()
    call_command("find_fragments", *args, stdout=out, **options)
    return out.getvalue()


def test_a_wheel_becomes_fragments_that_hold_what_they_need_and_the_rest_says_why_not(wheel):
    said = find(wheel, run="r1", dataset="made")
    fragment = Fragment.objects.get(state="waiting")
    assert fragment.source.startswith("# From pack/near.py\nLIMIT = 2\n\n\ndef first(items):")
    assert (fragment.repository, fragment.licence, fragment.origin) == ("pack 1", "MIT", wheel.name)
    assert (fragment.path, fragment.function, fragment.run.path) == ("pack/a.py", "first", "plain")
    left = dict(Fragment.objects.filter(state="left_out").values_list("function", "reason_code"))
    assert left == {"bare": "no_doctest", "": "no_function"}
    assert "1 wait in run r1." in said
    assert "1 left out: no_doctest" in said
    assert AuditEntry.objects.filter(action="fragments taken", subject="generation:r1").exists()


def test_the_same_source_twice_adds_nothing(wheel):
    find(wheel, run="r1", dataset="made")
    said = find(wheel, run="r1")
    assert "0 wait in run r1, 3 were there before." in said
    assert Fragment.objects.count() == 3


def test_a_copy_of_what_the_run_has_is_left_out_as_a_duplicate():
    run = plain_run("r1", dataset="made")
    text = 'def f(a):\n    """Doc of it.\n\n    >>> f(1)\n    1\n    """\n    return a\n'
    for path in ("one.py", "two.py"):
        taken = take_fragments(run, [read_text(text, path=path)], Wanted(doctests=True))
    assert taken.left_out == {"duplicate": 1}
    assert run.fragments.get(reason_code="duplicate").reason == "f in line 1 is one.py, f under other names."


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("a.txt", b"text", "none of the sources that are read"),
        ("a.jsonl", b'{"a": 1}\n', "none of the sources that are read"),
        ("a.py", b"\xff", "not UTF-8"),
        ("a.py", b"  ", "There is no code"),
        ("a.py", b"x = '\0'", "holds a NUL character"),
    ],
)
def test_what_is_no_source_is_refused_with_the_remedy(name, data, said):
    with pytest.raises(SourceRefused, match=said):
        list(read_stream(io.BytesIO(data), name))


def test_a_path_that_is_not_there_and_a_run_without_a_dataset_are_refused(tmp_path):
    with pytest.raises(SourceRefused, match="cannot be opened"):
        list(read_path(tmp_path / "none.py"))
    with pytest.raises(CommandError, match="Name a --dataset"):
        find(tmp_path, run="r1")
    with pytest.raises(CommandError, match="use letters, digits"):
        find(tmp_path, run="r 1", dataset="made")
    with pytest.raises(CommandError, match="There is no Python environment called moon"):
        find(tmp_path, run="r1", dataset="made", environment="moon")
