"""CURATE: an edit of a version is put back into its source and looked at there; writes nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

from examples.importing.base import content_hash, segments_as_json
from examples.jobs import segments_of
from examples.languages.base import FunctionAbsent, SourceUnfit, Unreadable, Ways
from examples.languages.ways import ways
from examples.masking import MaskingError, Segment, Span, fill, line_ended, test_source
from examples.models import Version
from examples.recontext import ContextInvalid, placed, with_placeholder
from examples.visible import VisiblePart
from runner.models import Environment


class EditInvalid(Exception):
    """What is wrong with an edit, by field: what, at which line, and what helps."""

    def __init__(self, problems: dict[str, str]) -> None:
        super().__init__("; ".join(f"{name}: {said}" for name, said in problems.items()))
        self.problems = problems


@dataclass(frozen=True)
class Edit:
    """What a curator may change of a version, as text to be edited.

    context    with `...` in the place of the focal body
    reference  the focal body, its first line indented as in the source
    tests      the source of the test functions
    block      the code that runs them, "" where the runner calls each
    visible    how many top-level assertions an annotator sees
    """

    instruction: str
    context: str
    reference: str
    tests: str
    block: str
    visible: int
    environment: Environment


@dataclass(frozen=True)
class Proposal:
    """An edit that holds: the columns of its version, and what an annotator would see of the tests."""

    columns: dict[str, Any]
    environment: Environment
    shown: VisiblePart

    @property
    def content_hash(self) -> str:
        """The hash of the content."""
        names = ("language", "instruction", "context", "gap", "reference", "segments", "block", "expected")
        return content_hash(**{name: self.columns[name] for name in (*names, "visible")})

    @property
    def version(self) -> Version:
        """The content as an unsaved version, to be compared and shown."""
        return Version(environment=self.environment, content_hash=self.content_hash, **self.columns)


def edit_of(version: Version) -> Edit:
    """Return the version as text to be edited."""
    segments = segments_of(version)
    return Edit(
        instruction=version.instruction,
        context=with_placeholder(version.context, version.gap),
        reference=indentation_of(version) + version.reference,
        tests=test_source(segments),
        block=_block_source(segments),
        visible=version.visible,
        environment=version.environment,
    )


def indentation_of(version: Version) -> str:
    """Return what stands before the focal body on its first line, where that is nothing but indentation."""
    before = version.context.encode()[: version.gap].decode()
    line = before[max(before.rfind("\n"), before.rfind("\r")) + 1 :]
    return "" if line.strip() else line


def prepare(version: Version, edit: Edit) -> Proposal:
    """Return what would become of the version by this edit. Raises EditInvalid."""
    its = ways(version.language)
    if edit.environment.language != version.language:
        said = f"{edit.environment.name} runs {edit.environment.language}. Choose one for {version.language}."
        raise EditInvalid({"environment": said})
    version = _in_context(its, version, edit.context)
    before = edit_of(version)
    edit = replace(
        edit,
        instruction=_kept(edit.instruction, before.instruction),
        reference=_kept(edit.reference, before.reference).rstrip(),
        tests=_kept(edit.tests, before.tests),
        block=_kept(edit.block, before.block),
    )
    if edit.reference == before.reference.rstrip():
        edit = replace(edit, reference=before.reference)
    reference = edit.reference.removeprefix(indentation_of(version))
    _refuse_reference(its, version, reference)
    segments = _segments(its, version, before, edit)
    expected, driven = _judged_by(its, version, reference, segments, edit)
    block = _driver(segments) if driven else ""
    shown = its.visible_part(test_source(segments), expected, block, count=edit.visible)
    if edit.visible > shown.total:
        raise EditInvalid(
            {
                "visible": f"The tests have {shown.total} top-level assertions. Give a number from 0 to {shown.total}."
            }
        )
    columns = {
        "language": version.language,
        "focal_name": version.focal_name,
        "instruction": edit.instruction,
        "context": version.context,
        "gap": version.gap,
        "reference": reference,
        "segments": segments_as_json(segments),
        "block": block,
        "expected": list(expected),
        "visible": edit.visible,
    }
    return Proposal(columns, edit.environment, shown)


def _in_context(its: Ways, version: Version, edited: str) -> Version:
    """Return the version in the edited context, unsaved; itself where that is as it was. Raises EditInvalid."""
    before = with_placeholder(version.context, version.gap)
    edited = _kept(edited, before)
    if edited == before:
        return version
    try:
        context, gap, segments = placed(
            its, edited, version.focal_name, context=version.context, segments=segments_of(version)
        )
    except ContextInvalid as error:
        raise EditInvalid({"context": str(error)}) from error
    moved = copy(version)
    moved.context, moved.gap, moved.segments = context, gap, segments_as_json(segments)
    return moved


def _kept(text: str, before: str) -> str:
    """Return the text with the line ends of what was there before, and exactly that where only line ends differ.

    Browsers send every line end as CR LF.
    """
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    if plain == before.replace("\r\n", "\n").replace("\r", "\n"):
        return before
    return plain.replace("\n", "\r\n") if "\r\n" in before else plain


def _refuse_reference(its: Ways, version: Version, reference: str) -> None:
    """Raise EditInvalid where the body cannot be read in its place, or is not all of the focal body."""
    program = fill(version.context, version.gap, reference)
    first = version.context.encode()[: version.gap].decode().count("\n") + 1
    try:
        spans = its.body_spans(program, version.focal_name)
    except Unreadable as error:
        said = f"Line {max(error.line - first + 1, 1)}: {error.message}. Mend it, with the indentation of the others."
        raise EditInvalid({"reference": said}) from error
    except (FunctionAbsent, MaskingError) as error:
        raise EditInvalid(
            {"reference": f"{error}. Give the body of {version.focal_name}, without its signature."}
        ) from error
    if Span(version.gap, version.gap + len(reference.encode())) not in spans:
        raise EditInvalid(
            {
                "reference": f"This is not exactly the body of {version.focal_name}: a docstring, a second definition or"
                " code behind it does not belong here. Begin with a statement, end with the function."
            }
        )


def _segments(its: Ways, version: Version, before: Edit, edit: Edit) -> tuple[Segment, ...]:
    """Return the tests where they belong: what was not edited stays as it is, the rest where its first piece was."""
    old = segments_of(version)
    end = len(version.context.encode())
    if edit.tests != before.tests:
        at = next((each.offset for each in old if each.kind == "function"), end)
        old = _replaced(old, "function", _pieces(its, line_ended(edit.tests), at, version.expected))
    if edit.block != before.block:
        at = next((each.offset for each in old if each.kind == "block"), end)
        _named(its.defined, "block", edit.block, its)
        old = _replaced(
            old, "block", [Segment(at, line_ended(edit.block), "block")] if edit.block.strip() else []
        )
    return old


def _replaced(old: Sequence[Segment], kind: str, new: Sequence[Segment]) -> tuple[Segment, ...]:
    """Return the segments with all of a kind replaced, where the first of them stood; at the end where there was none."""
    first = next((at for at, each in enumerate(old) if each.kind == kind), len(old))
    return (*old[:first], *new, *(each for each in old[first:] if each.kind != kind))


def _pieces(its: Ways, tests: str, offset: int, known: Sequence[str]) -> list[Segment]:
    """Return the text cut into its tests, all at one place."""
    names = _test_names(its, tests, known)
    if not names:
        raise EditInvalid(
            {"tests": "There is no test function. Define one whose name begins with test, at the top level."}
        )
    return [Segment(offset, text, "function", name) for name, text in its.pieces(tests, names)]


def _test_names(its: Ways, tests: str, known: Sequence[str]) -> list[str]:
    """Return the tests of a text: those expected before, and what is called `test*`. Raises EditInvalid."""
    names = _named(its.tests_in, "tests", tests, its)
    return [name for name in names if name in known or name.startswith("test")]


def _named(read: Callable[[str], list[str]], field: str, text: str, its: Ways) -> list[str]:
    """Return the names that are read from the text of a field. Raises EditInvalid where it cannot be read."""
    try:
        return read(text)
    except Unreadable as error:
        raise EditInvalid({field: f"{error.place}{error.message}. Mend it as {its.title}."}) from error


def _judged_by(
    its: Ways, version: Version, reference: str, segments: Sequence[Segment], edit: Edit
) -> tuple[tuple[str, ...], bool]:
    """Return which tests must pass, and whether the block runs them. Raises EditInvalid."""
    names = _test_names(its, edit.tests, version.expected)
    try:
        return its.judged_by(version.context, version.gap, reference, segments, names)
    except SourceUnfit as error:
        field = "tests" if error.field in ("segments", "expected") else error.field
        raise EditInvalid({field: f"{error.message}. {error.remedy}"}) from error


def _block_source(segments: Sequence[Segment]) -> str:
    return "".join(each.text for each in segments if each.kind == "block")


def _driver(segments: Sequence[Segment]) -> str:
    return "".join(line_ended(each.text) for each in segments if each.kind == "block")
