"""An edit of a version in JavaScript or C++: put back into its source and looked at there, as in Python."""

from __future__ import annotations

from dataclasses import replace

import pytest

from examples.demo.braced import records
from examples.editing import Edit, EditInvalid, edit_of, prepare
from examples.importing.base import Record
from examples.jobs import segments_of
from examples.masking import test_source, with_tests
from examples.models import Version
from runner.models import Environment
from tests.factories import columns_of

RECORDS = {record.key: record for name in ("javascript", "cpp") for record in records(name)}
SCRIPTS = sorted(key for key, record in RECORDS.items() if not record.test_source.startswith("{"))
CASES = sorted(RECORDS.keys() - set(SCRIPTS))
RETRY, BUFFER, ROMAN = "javascript/retry", "cpp/ring_buffer", "javascript/roman"


def version_of(record: Record) -> Version:
    """The record as an unsaved version."""
    there = Environment(name="there", language=record.language)
    return Version(environment=there, content_hash=record.content_hash, **columns_of(record))


def refused(version: Version, edit: Edit) -> dict[str, str]:
    with pytest.raises(EditInvalid) as raised:
        prepare(version, edit)
    return raised.value.problems


@pytest.mark.parametrize("key", sorted(RECORDS))
def test_what_was_not_edited_is_the_same_content(key: str) -> None:
    version = version_of(RECORDS[key])
    edit = edit_of(version)
    assert edit.context.count("...") >= 1
    proposal = prepare(version, edit)
    assert proposal.content_hash == version.content_hash
    assert proposal.shown.count == version.visible
    crlf = replace(
        edit,
        **{name: getattr(edit, name).replace("\n", "\r\n") for name in ("context", "tests", "reference")},
    )
    assert prepare(version, crlf).content_hash == version.content_hash


@pytest.mark.parametrize("key", sorted(RECORDS))
def test_one_more_line_of_context_moves_the_gap_and_the_tests_with_it(key: str) -> None:
    version = version_of(RECORDS[key])
    edit = edit_of(version)
    columns = prepare(version, replace(edit, context=f"// one more line\n{edit.context}")).columns
    assert columns["context"] == f"// one more line\n{version.context}"
    assert columns["gap"] == version.gap + len("// one more line\n")
    moved = segments_of(Version(segments=columns["segments"]))
    assert [each.offset for each in moved] == [
        each.offset + len("// one more line\n") for each in segments_of(version)
    ]
    for name in ("reference", "expected"):
        assert columns[name] == getattr(version, name)


@pytest.mark.parametrize("key", SCRIPTS)
def test_a_second_test_function_is_expected_and_cut_apart(key: str) -> None:
    version = version_of(RECORDS[key])
    edit = edit_of(version)
    more = "\n// nothing at all\n{}test_more() {{\n  assert(true);\n}}\n".format(
        "function " if version.language == "javascript" else "void "
    )
    columns = prepare(version, replace(edit, tests=edit.tests + more)).columns
    assert columns["expected"] == [*version.expected, "test_more"]
    pieces = segments_of(Version(segments=columns["segments"]))
    assert [each.name for each in pieces] == columns["expected"]
    assert test_source(pieces) == edit.tests + more


@pytest.mark.parametrize("key", CASES)
def test_a_changed_case_stays_with_its_test_and_one_more_test_is_expected(key: str) -> None:
    version = version_of(RECORDS[key])
    edit = edit_of(version)
    more = '{"test": "test_more", "call": "f", "args": [1], "expected": 2}\n'
    again = edit.tests.split("\n")[0] + "\n"
    columns = prepare(version, replace(edit, tests=edit.tests + more + again)).columns
    pieces = segments_of(Version(segments=columns["segments"]))
    assert columns["expected"] == [*version.expected, "test_more"]
    assert [each.name for each in pieces] == columns["expected"]
    assert pieces[0].text.endswith(again)
    assert pieces[0].text.count(again) == 2


def test_the_whole_source_of_an_edit_reads_as_it_was_written() -> None:
    version = version_of(RECORDS[BUFFER])
    edit = edit_of(version)
    columns = prepare(version, replace(edit, reference=edit.reference + "\n    // done")).columns
    whole = with_tests(columns["context"], columns["gap"], columns["reference"], segments_of(version))
    assert columns["reference"] == version.reference + "\n    // done"
    assert "\n    // done\n" in whole


@pytest.mark.parametrize("key", [RETRY, BUFFER])
@pytest.mark.parametrize(
    ("field", "text", "said"),
    [
        ("reference", "return (1;", "Line"),
        ("reference", "", "without its signature"),
        ("reference", "return 1;\n}\n\nint other() {\n  return 2;", "end with the function"),
        ("tests", "// nothing", "There is no test function"),
        ("tests", "void test_a() {", "Line"),
        ("block", "test_a();", "each test function is called"),
    ],
)
def test_what_is_wrong_is_said_at_its_field(key: str, field: str, text: str, said: str) -> None:
    version = version_of(RECORDS[key])
    problems = refused(version, replace(edit_of(version), **{field: text}))
    assert list(problems) == [field]
    assert said in problems[field]


@pytest.mark.parametrize(
    ("was", "becomes", "said"),
    [
        ("retry(", "again(", "The function that is open must stay"),
        ("...\n", "return 1;\n", "leave ... as all of it"),
        ("...\n", "...\n  return 1;\n", "leave ... as all of it"),
        ("...\n", "\n", "Leave ... where it belongs"),
        ("...\n", "... (\n", "Mend it as JavaScript"),
    ],
)
def test_a_context_without_its_open_function_is_refused_in_plain_words(
    was: str, becomes: str, said: str
) -> None:
    version = version_of(RECORDS[RETRY])
    edit = edit_of(version)
    assert was in edit.context
    problems = refused(version, replace(edit, context=edit.context.replace(was, becomes)))
    assert list(problems) == ["context"]
    assert said in problems["context"]


def test_a_context_that_defines_a_test_is_refused() -> None:
    version = version_of(RECORDS[RETRY])
    edit = edit_of(version)
    taken = f"{edit.context}\nfunction {version.expected[0]}() {{\n  return 1;\n}}\n"
    assert "tests are edited as tests" in refused(version, replace(edit, context=taken))["context"]


def test_a_case_that_is_none_is_said_with_its_line() -> None:
    version = version_of(RECORDS[ROMAN])
    edit = edit_of(version)
    problems = refused(version, replace(edit, tests=edit.tests + '{"test": "test_more"}\n'))
    assert list(problems) == ["tests"]
    assert f"Line {edit.tests.count(chr(10)) + 1}: " in problems["tests"]


def test_of_two_functions_of_one_name_the_open_one_is_meant() -> None:
    version = version_of(RECORDS["cpp/in_base"])
    edit = edit_of(version)
    twin = "std::string in_base(long number) {\n    return in_base(number, 10);\n}\n\n"
    columns = prepare(version, replace(edit, context=twin + edit.context)).columns
    assert columns["gap"] == version.gap + len(twin)
    assert columns["context"] == twin + version.context


def test_an_environment_of_another_language_is_refused() -> None:
    version = version_of(RECORDS[BUFFER])
    edit = replace(edit_of(version), environment=Environment(name="plain", language="python"))
    assert refused(version, edit) == {"environment": "plain runs python. Choose one for cpp."}
