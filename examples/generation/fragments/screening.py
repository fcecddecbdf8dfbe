"""FRAGMENTS: which functions of a file are candidates, and why the others are not, told by the syntax tree; pure."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from examples.generation.doctests import has_examples
from examples.generation.fragments.base import Candidate, LeftOut, Reason, SourceFile
from examples.generation.fragments.structure import structure_of
from examples.generation.fragments.touching import Touch, touches
from examples.generation.slicing import slice_function
from examples.languages.python import source as python

OUTSIDE = (Reason.NETWORK, Reason.GPU, Reason.SUBPROCESS, Reason.FILES)
WORDS = {
    Reason.NETWORK: "a network",
    Reason.GPU: "a graphics processor",
    Reason.SUBPROCESS: "other processes",
    Reason.FILES: "files",
}


@dataclass(frozen=True)
class Wanted:
    """What a fragment has to be.

    least, most  lines of the function's body without its docstring
    refused      what it may not touch
    doctests     whether its docstring must hold examples, as the path without a model needs
    """

    least: int = 1
    most: int = 200
    refused: frozenset[Reason] = frozenset(OUTSIDE)
    doctests: bool = False


def screen(
    files: Iterable[SourceFile | LeftOut], wanted: Wanted, seen: dict[str, str] | None = None
) -> Iterator[Candidate | LeftOut]:
    """Yield every function of the files as a candidate or as left out with its reason; what was left out before passes.

    `seen` are structures that were found before, with where, and grows. Nested functions are part of the function around them: they cannot be called by themselves.
    """
    seen = {} if seen is None else seen
    for file in files:
        if isinstance(file, LeftOut):
            yield file
        else:
            yield from _screen_file(file, wanted, seen)


def _screen_file(file: SourceFile, wanted: Wanted, seen: dict[str, str]) -> Iterator[Candidate | LeftOut]:
    try:
        tree = python.parse(file.text)
    except python.SourceInvalid as error:
        python_2 = error.message.startswith("looks like Python 2")
        reason = Reason.PYTHON_2 if python_2 else Reason.NOT_PYTHON
        yield _left_out(file, reason, f"{_place(file, error.line)} {error.message}.", file.name, error.line)
        return
    names = [file.name] if file.name else list(_callable_names(tree.body))
    if not names:
        yield _left_out(file, Reason.NO_FUNCTION, f"{file.path or 'The text'} defines no function.")
    for name in dict.fromkeys(names):
        try:
            yield _screen_function(file, tree, python.find(tree, name), name, wanted, seen)
        except python.FunctionNotFound as error:
            yield _left_out(file, Reason.NO_FUNCTION, f"{error}.", name)


def _screen_function(
    file: SourceFile,
    tree: ast.Module,
    function: python.FunctionNode,
    name: str,
    wanted: Wanted,
    seen: dict[str, str],
) -> Candidate | LeftOut:
    line = function.lineno
    if said := _test_code(file, name):
        return _left_out(file, Reason.TEST_CODE, said, name, line)
    body = function.body[1:] if python.docstring_node(function) else function.body
    if _is_stub(body):
        return _left_out(file, Reason.STUB, f"{name} in line {line} has no body of its own.", name, line)
    length = (function.end_lineno or line) - body[0].lineno + 1
    if not wanted.least <= length <= wanted.most:
        reason = Reason.TOO_SHORT if length < wanted.least else Reason.TOO_LONG
        asked = f"at least {wanted.least}" if length < wanted.least else f"at most {wanted.most}"
        return _left_out(
            file, reason, f"{name} in line {line} has {length} lines, {asked} wanted.", name, line
        )
    if wanted.doctests and not has_examples(ast.get_docstring(function, clean=False) or ""):
        return _left_out(
            file, Reason.NO_DOCTEST, f"The docstring of {name} in line {line} holds no example.", name, line
        )
    if touch := _refused(file, tree, function, name, wanted.refused):
        where = f"in line {touch.line}" if touch.line else f"in what line {line} needs of the file"
        said = f"{name} touches {WORDS[touch.reason]}: {touch.name} {where}."
        return _left_out(file, touch.reason, said, name, touch.line or line)
    shape = structure_of(function)
    former = seen.setdefault(shape, f"{file.path or file.key}, {name}")
    if former != f"{file.path or file.key}, {name}":
        return _left_out(
            file, Reason.DUPLICATE, f"{name} in line {line} is {former} under other names.", name, line
        )
    return Candidate(file, name, line, shape)


def _refused(
    file: SourceFile, tree: ast.Module, function: python.FunctionNode, name: str, refused: frozenset[Reason]
) -> Touch | None:
    """Return the first thing that the function touches and may not, itself or by what it needs of its file."""
    own = [each for each in touches([function], tree.body) if each.reason in refused]
    if own or not refused:
        return own[0] if own else None
    if "." in name:  # a class is kept whole, and what its other methods touch is not the function's doing
        return None
    needed = python.parse(slice_function(file.text, name, module=file.module).source)
    helpers = [each for each in touches(needed.body, needed.body) if each.reason in refused]
    return helpers[0]._replace(line=0) if helpers else None


def touched(candidate: Candidate) -> list[str]:
    """Return what a candidate touches itself, each once."""
    tree = python.parse(candidate.file.text)
    found = touches([python.find(tree, candidate.name)], tree.body)
    return sorted({each.reason.value for each in found})


def _callable_names(body: list[ast.stmt], prefix: str = "") -> Iterator[str]:
    """Yield the qualified names of functions and methods, those inside functions left out."""
    for node in python.children(body):
        if isinstance(node, python.FUNCTIONS):
            yield prefix + node.name
        elif isinstance(node, ast.ClassDef):
            yield from _callable_names(node.body, f"{prefix}{node.name}.")


def _test_code(file: SourceFile, name: str) -> str:
    parts = file.path.split("/")
    if not file.name and any(part in ("test", "tests", "conftest.py") for part in parts):
        return f"{file.path} is a file of tests."
    if not file.name and (parts[-1].startswith("test_") or name.startswith(("test_", "Test"))):
        return f"{name} of {file.path} is a test."
    return ""


def _is_stub(body: list[ast.stmt]) -> bool:
    """Return whether a body does nothing: empty, `pass`, `...`, or one `raise NotImplementedError`."""
    return all(
        isinstance(each, ast.Pass)
        or (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))
        or (isinstance(each, ast.Raise) and _name_of(each.exc) == "NotImplementedError")
        for each in body
    )


def _name_of(raised: ast.expr | None) -> str:
    """Return the name of what is raised, called or not; "" where it has none."""
    raised = raised.func if isinstance(raised, ast.Call) else raised
    return raised.id if isinstance(raised, ast.Name) else ""


def _place(file: SourceFile, line: int) -> str:
    shown = file.path or "The text"
    return f"{shown}, line {line}:" if line else f"{shown}:"


def _left_out(file: SourceFile, reason: Reason, sentence: str, name: str = "", line: int = 0) -> LeftOut:
    return LeftOut(reason, sentence, file.path, name, line, file.key)
