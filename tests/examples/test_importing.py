import gzip
import io
import json
import tracemalloc
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples.assembly import Answer, assemble
from examples.importing import benchwright, containers
from examples.importing.base import Problem, Record
from examples.importing.containers import Item, json_lines, json_list, opened
from examples.importing.detect import read
from examples.masking import with_tests
from tests.examples.published import data_file, exec_csn

GOOD = {
    "idx": 7,
    "code": "import os, numpy.linalg\nfrom . import x\nfrom .other import y\ndef f(a):\n    return a\n\ndef test_f():\n    import requests\n    assert f(1)\n    assert f(2)\n",
    "func_name": "f",
    "revised_instruction": "Functionality: give a back.",
    "docstring": "",
    "repo_name": "some/where",
}


def records(values, **dump) -> list[Record | Problem]:
    return list(read(io.BytesIO(json.dumps(values, **dump).encode())))


def lines(*values) -> list[Record | Problem]:
    texts = [value if isinstance(value, bytes) else json.dumps(value).encode() for value in values]
    return list(read(io.BytesIO(b"\n".join(texts))))


def only(results) -> Problem:
    [result] = results
    assert isinstance(result, Problem), result
    return result


def test_all_24_published_records_come_in_and_give_their_code_back():
    got = list(read(data_file("exec_csn_sample.json").open("rb")))
    for record, source in zip(got, exec_csn(), strict=True):
        assert record.key == str(source["idx"])
        assert record.repository == source["repo_name"]
        assert record.instruction == source["revised_instruction"]
        assert with_tests(record.context, record.gap, record.reference, record.tests) == source["code"]
        assert 1 <= record.visible <= record.total
    needs = {record.key: record.needs for record in got if record.needs}
    assert needs == {
        "7760": ("requests",), "6221": ("matplotlib", "mpl_toolkits", "numpy", "pandas"), "18228": ("dateutil",), "14434": ("tornado",),
        "6677": ("numpy", "sklearn"), "1769": ("numpy",), "2266": ("requests",), "11573": ("flask",),
    }  # fmt: skip
    assert got[3].title == "add_years in ToucanToco/toucan-data-sdk"
    assert len({record.content_hash for record in got}) == 24


def test_humaneval_comes_in_with_its_published_program():
    packed = data_file("humaneval/HumanEval.jsonl.gz").read_bytes()
    source = [json.loads(line) for line in gzip.decompress(packed).splitlines()]
    got = list(read(data_file("humaneval/HumanEval.jsonl.gz").open("rb")))
    assert len(got) == 164
    for record, item in zip(got, source, strict=True):
        whole = with_tests(record.context, record.gap, record.reference, record.tests)
        published = (
            f"{item['prompt']}{item['canonical_solution']}\n{item['test']}\ncheck({item['entry_point']})"
        )
        assert whole == published
        assert (record.expected, record.block.strip()) == (("check",), f"check({item['entry_point']})")
        assert "METADATA" not in record.context
        assert record.title == item["entry_point"]
        assert record.instruction
        assert record.visible >= 1


def test_what_a_humaneval_prompt_gives_of_the_body_stays_in_the_context():
    prompt = 'def fill(a):\n    import math\n    """No docstring, since it is not first."""\n'
    solution = "    return math.ceil(a)\n"
    test = "def check(candidate):\n    assert candidate(0.5) == 1\n"
    item = {
        "task_id": "x/1",
        "prompt": prompt,
        "canonical_solution": solution,
        "entry_point": "fill",
        "test": test,
    }
    [record] = lines(item)
    assert record.context[: record.gap] == prompt + "    "
    assert record.reference == "return math.ceil(a)"
    assembled = assemble(record.context, record.gap, Answer(solution))
    assert assembled.program.rstrip() == (prompt + solution).rstrip()


def test_humaneval_plus_keeps_its_inputs_out_of_the_context():
    got = list(islice(read(data_file("humanevalplus/HumanEvalPlus-OriginFmt.jsonl.gz").open("rb")), 12))
    assert all(record.needs == ("numpy",) for record in got)
    assert max(len(record.context) for record in got) < 4000


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("hard/utf16.csv", "UTF-16, not UTF-8 (byte 0xff at 0)"),
        ("hard/cosqa_qrels.parquet", "is Parquet"),
        ("hard/humaneval.csv", "is a table (CSV, columns task_id, prompt"),
        ("hard/mbpp.csv", "is a table"),
        ("hard/not_a_benchmark_crlf.json", "is a JSON object (keys bf16, optimizer"),
        ("hard/humaneval-js.jsonl.gz", "no reference solution"),
        ("codesearchnet/python_train_sample.jsonl", "no tests"),
        ("codesearchnet/python_advtest_sample.jsonl", "no tests"),
        ("humanevalplus/HumanEvalPlus-Mini.jsonl.gz", "without expected values"),
        ("humaneval/example_samples.jsonl", "model samples"),
        ("repost/repost_eval.json.gz", "reference beside the gap"),
        ("mbpp/mbpp.jsonl", "MBPP"),
        ("hard/mbpp_malformed.jsonl.gz", "MBPP"),
        ("classeval/ClassEval_data.json.gz", "whole class"),
        ("quixbugs/quixbugs.jsonl", "to repair"),
        ("exec_csn_packages.txt", "no JSON record"),
        ("refactory/problems.json", "no known format (keys question, description"),
        ("ratings/swebench_ensembled_annotations.csv.gz", "is a table"),
    ],
)
def test_a_file_of_another_kind_is_refused_with_what_it_is_and_what_to_do(name, words):
    problem = only(read(data_file(name).open("rb")))
    assert problem.number == 0
    assert words in problem.message
    assert problem.remedy


def test_each_malformed_line_is_reported_with_its_number_and_the_good_ones_are_read():
    walked = list(json_lines(opened(data_file("hard/mbpp_malformed.jsonl.gz").open("rb"))))
    problems = [each for each in walked if isinstance(each, Problem)]
    no_json = [each for each in problems if "is not JSON" in each.message]
    assert (len(walked) - len(no_json), len(no_json)) == (1021, 505)
    assert sum(isinstance(each, Item) for each in walked) == 993
    assert (problems[0].line, problems[0].number) == (975, 975)
    assert "'//implemented dataset'" in problems[0].message


def test_python_2_code_is_told_apart_for_each_record():
    source = [
        json.loads(line)
        for line in data_file("codesearchnet/python_train_sample.jsonl").read_text().split("\n")
        if line
    ]
    items = [
        {
            **GOOD,
            "idx": number,
            "code": each["original_string"],
            "func_name": each["func_name"].rpartition(".")[2],
        }
        for number, each in enumerate(source, start=1)
    ]
    broken = [each for each in records(items) if isinstance(each, Problem) and each.field == "code"]
    assert [problem.number for problem in broken] == [62, 84]
    assert all("looks like Python 2: " in problem.message for problem in broken)


def test_imports_are_told_apart_by_who_brings_them():
    [record] = records([GOOD])
    assert record.libraries == ("numpy", "os", "requests")
    assert record.needs == ("numpy", "requests")
    assert (record.visible, record.total) == (1, 2)


@pytest.mark.parametrize(
    ("change", "field", "words"),
    [
        ({"code": None}, "code", "is missing"),
        ({"code": ""}, "code", "is empty"),
        ({"code": 3}, "code", "is a number, not text"),
        ({"code": "def f(:"}, "code", "line 1: "),
        ({"code": "x = '\0'"}, "code", "NUL"),
        ({"code": "x = '\ud800'"}, "code", "half a character"),
        ({"func_name": "g"}, "func_name", "nearest: f, test_f"),
        ({"func_name": "f" * 301}, "func_name", "301 characters"),
        ({"code": "def f():\n    '''x'''\n"}, "func_name", "nothing is open"),
        (
            {"code": "class TestX:\n    def test_a(self): pass\ndef f(): return 1\n"},
            "code",
            "methods of a class (TestX)",
        ),
        ({"revised_instruction": None}, "revised_instruction", "is missing"),
        ({"idx": None}, "idx", "is missing"),
        ({"idx": True}, "idx", "true or false"),
        ({"repo_name": []}, "repo_name", "is a list"),
    ],
)
def test_a_bad_record_is_reported_with_number_line_field_and_remedy_while_good_ones_come_in(
    change, field, words
):
    first, problem, last = records([GOOD, {**GOOD, "idx": 8, **change}, {**GOOD, "idx": "b9"}], indent=1)
    assert (first.key, last.key) == ("7", "b9")
    assert (problem.number, problem.line, problem.field) == (2, 10, field)
    assert words in problem.message
    assert problem.remedy
    assert str(problem).startswith("record 2 (line 10), ")


def test_a_key_that_occurs_again_is_reported():
    _, problem = records([GOOD, {**GOOD, "idx": "7"}])
    assert problem.message == "'7' is the name of record 1 too"


def test_a_record_without_any_test_comes_in_for_the_check_to_say_so():
    [record] = records([{**GOOD, "code": "def f(): return 1"}])
    assert (record.expected, record.visible, record.total) == ((), 0, 0)


def test_exec_csn_may_also_come_as_lines_and_a_byte_order_mark_is_no_obstacle():
    assert [each.key for each in lines(GOOD, b"", {**GOOD, "idx": 8})] == ["7", "8"]
    assert [each.key for each in read(io.BytesIO(b"\xef\xbb\xbf" + json.dumps([GOOD]).encode()))] == ["7"]
    assert [each.key for each in read(io.BytesIO(b"\xef\xbb\xbf" + json.dumps(GOOD).encode()))] == ["7"]


def test_lines_that_are_no_objects_are_reported():
    results = lines(b"[1]", GOOD, b"3", b'"\xff"', b"[" * 100_000)
    assert isinstance(results[0], Problem)
    results = lines(GOOD, b"3", b'"\xff"', b"[" * 100_000, {**GOOD, "idx": 8})
    assert [type(each).__name__ for each in results] == ["Record", "Problem", "Problem", "Problem", "Record"]
    assert "not an object" in results[1].message
    assert "not UTF-8 at byte 2" in results[2].message
    assert "nested too deeply" in results[3].message


def test_a_list_that_breaks_off_keeps_what_came_before_and_says_where():
    text = json.dumps([GOOD, {**GOOD, "idx": 8}], indent=1)
    for end in (len(text) - 1, len(text) - 20, len(text) - 3):
        results = list(read(io.BytesIO(text[:end].encode())))
        assert results[0].key == "7"
        assert isinstance(results[-1], Problem)
        assert results[-1].number in (2, 3)
    broken = text.replace('"idx": 8', '"idx": oops')
    _, problem = read(io.BytesIO(broken.encode()))
    assert (problem.number, problem.line) == (2, 10)
    assert "not JSON" in problem.message
    _, _, problem = read(io.BytesIO((text + "\n!").encode()))
    assert "follows the end" in problem.message
    results = list(read(io.BytesIO(b"[" + json.dumps(GOOD).encode() + b", 3, null, [1]]")))
    assert [type(each).__name__ for each in results] == ["Record", "Problem", "Problem", "Problem"]


def test_damaged_gzip_and_empty_files_are_said_so():
    packed = gzip.compress(json.dumps([{**GOOD, "idx": n} for n in range(200)]).encode())
    results = list(read(io.BytesIO(packed[:-500])))
    assert "damaged or cut short" in results[-1].message
    assert only(read(io.BytesIO(b"\x1f\x8bnonsense"))).message.startswith("the gzip data is damaged")
    for empty in (b"", b" \n", gzip.compress(b"")):
        assert only(read(io.BytesIO(empty))).message == "is empty"
    assert "no record" in only(read(io.BytesIO(b"[]"))).message
    assert "spread over several lines" in only(read(io.BytesIO(json.dumps(GOOD, indent=2).encode()))).message


def test_too_long_a_record_is_refused_and_the_next_line_is_read(monkeypatch):
    monkeypatch.setattr(containers, "RECORD_LIMIT", 100_000)
    long = {**GOOD, "idx": 8, "docstring": "x" * 300_000}
    first, problem, last = lines(GOOD, long, {**GOOD, "idx": 9})
    assert (first.key, problem.line, last.key) == ("7", 2, "9")
    assert "is longer than" in problem.message
    first, problem = records([GOOD, {**long, "docstring": "x" * 3_000_000}])
    assert "is longer than" in problem.message


def test_a_gzip_bomb_is_stopped_in_flat_memory():
    bomb = gzip.compress(json.dumps(GOOD).encode() + b"\n" + b" " * (64 << 20), 9)
    tracemalloc.start()
    *_, problem = read(io.BytesIO(bomb))
    assert tracemalloc.get_traced_memory()[1] < 16 << 20
    tracemalloc.stop()
    assert "more than 200 times its size" in problem.message


def test_a_file_beyond_the_limit_is_not_read_to_its_end():
    stream = containers.Bounded(io.BytesIO(b"x" * 1000), limit=999)
    with pytest.raises(containers.FileBroken, match="longer than"):
        io.BufferedReader(stream).read()


def test_memory_stays_flat_over_a_long_list(tmp_path):
    path = tmp_path / "long.json"
    with path.open("w") as file:
        file.write("[")
        file.writelines(
            (", " if n else "") + json.dumps({**GOOD, "idx": n, "docstring": "x" * 9000}) for n in range(2000)
        )
        file.write("]")
    tracemalloc.start()
    assert sum(isinstance(each, Item) for each in json_list(opened(path.open("rb")))) == 2000
    assert tracemalloc.get_traced_memory()[1] < 2 << 20
    tracemalloc.stop()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.lists(st.dictionaries(st.text(max_size=8), JSON, max_size=4), max_size=12),
    st.integers(0, 3),
    st.booleans(),
)
def test_any_list_is_walked_like_json_does_at_any_chunk_size(values, indent, ascii_only):
    text = json.dumps(values, indent=indent or None, ensure_ascii=ascii_only)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(containers, "CHUNK", 7)
        try:
            data = text.encode()
        except UnicodeEncodeError:
            return
        walked = list(json_list(io.BufferedReader(io.BytesIO(data))))
    assert [item.value for item in walked] == values
    assert [item.number for item in walked] == list(range(1, len(values) + 1))


def test_our_own_format_gives_every_record_back():
    sources = [data_file("exec_csn_sample.json"), data_file("humaneval/HumanEval.jsonl.gz")]
    before = [record for path in sources for record in read(path.open("rb"))]
    after = lines(*(benchwright.as_item(record) for record in before))
    assert after == before
    assert [record.content_hash for record in after] == [record.content_hash for record in before]


@pytest.mark.parametrize(
    ("change", "field", "words"),
    [
        ({"format": "benchwright/2"}, "format", "'benchwright/2'"),
        ({"format": None}, "format", "missing"),
        ({"language": "rust"}, "language", "'rust'"),
        ({"gap": 1}, "gap", "not Python"),
        ({"gap": -1}, "gap", "no whole number"),
        ({"gap": 10_000}, "gap", ""),
        ({"focal_name": "g"}, "focal_name", "'f' is open"),
        ({"reference": "return ("}, "reference", "line"),
        ({"segments": None}, "segments", "missing"),
        ({"segments": [{"offset": 99999, "text": "x", "kind": "function"}]}, "segments", "offset 99999"),
        ({"segments": [{"offset": 0, "text": "x", "kind": "other"}]}, "segments", "no segment"),
        ({"expected": "f"}, "expected", "list of names"),
        ({"visible": "2"}, "visible", "no whole number"),
        ({"instruction": "Another."}, "content_hash", "was changed"),
        ({"provenance": []}, None, ""),
        ({"provenance": [1]}, "provenance", "not an object"),
        ({"provenance": {"a": ["\0"]}}, "provenance", "NUL"),
        ({"provenance": {"\ud800": 1}}, "provenance", "half a character"),
        ({"provenance": {"a": float("nan")}}, "provenance", "no number"),
        ({"provenance": {"a": json.loads("[" * 300 + "]" * 300)}}, "provenance", "nested"),
        ({"title": "safe\u202egnp.exe"}, "title", "U+202E"),
        ({"repository": "\x1b[2Jsome/where"}, "repository", "U+001B"),
        ({"key": "two\nlines"}, "key", "U+000A"),
        ({"licence": "M\u200bIT"}, "licence", "U+200B"),
        ({"visible": 3}, "visible", "has 2"),
        ({"visible": 10**30}, "visible", "has 2"),
        ({"key": 10**300}, "key", "more than 200"),
        ({"instruction": "[" * 100_001}, "instruction", "more than 100000"),
    ],
)
def test_our_own_format_is_checked_field_by_field(change, field, words):
    [record] = records([GOOD])
    item = {**benchwright.as_item(record), **change}
    if field is None:
        assert lines(item)[0].key == "7"
        return
    problem = only(lines(item))
    assert problem.field == field
    assert words in problem.message


PROBLEM = {
    "task_id": "T/1",
    "prompt": "def f(a):\n",
    "entry_point": "f",
    "canonical_solution": "    return a\n",
    "test": "def check(candidate):\n    assert candidate(1)\n",
}


@pytest.mark.parametrize(
    ("change", "field", "words"),
    [
        ({"canonical_solution": None}, "canonical_solution", "missing"),
        ({"canonical_solution": "    return (\n"}, "canonical_solution", "line 2"),
        ({"canonical_solution": "    'only a docstring'\n"}, "canonical_solution", "nothing is open"),
        ({"entry_point": "g"}, "entry_point", "nearest: f"),
        ({"test": "assert f(1)\n"}, "test", "defines no function check"),
        ({"test": "def check(candidate):\n"}, "test", "line 1"),
        ({"test": None}, "test", "missing"),
        ({"task_id": 1.5}, "task_id", "a number, not text"),
        ({"prompt": 'def f(a):\n    """a \\0"""\n'}, "prompt", "NUL"),
        ({"prompt": 'def f(a):\n    """a \\ud800"""\n'}, "prompt", "half a character"),
    ],
)
def test_a_bad_humaneval_record_is_reported_by_field(change, field, words):
    good, problem = lines({**PROBLEM, "task_id": "T/0"}, {**PROBLEM, **change})
    assert (good.key, good.instruction) == ("T/0", "def f(a):")
    assert (problem.number, problem.field) == (2, field)
    assert words in problem.message


def test_the_content_hash_ignores_what_is_outside_the_version():
    [record] = records([GOOD])
    [other] = records([{**GOOD, "idx": 8, "repo_name": "else/where", "docstring": "d"}])
    assert other.content_hash == record.content_hash
    [other] = records([{**GOOD, "revised_instruction": "Else."}])
    assert other.content_hash != record.content_hash


@pytest.mark.parametrize("start", ['{"a": ', '{\n"a": ', '[{"a": ', '{"a": 1}\n{"a": '])
def test_a_file_nested_beyond_reading_is_refused_and_no_error(start):
    data = (start + "[" * 3000 + "]" * 3000 + "}\n").encode()
    assert only(list(read(io.BytesIO(data)))).number == 0
