"""ASSEMBLE: put an answer back into its context; every line of the program knows where it was written; pure.

The function takes the place of the open one. Imports go behind the context's imports, other code directly before the
top-level statement that holds the function, and what followed the function in the answer directly behind it. What
does not parse is put at the function's place as it stands, so that running it says why.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from examples.languages.python import answers
from examples.languages.python import source as python
from examples.languages.python.answers import Chunk, Mark, Reading
from examples.languages.python.opening import (
    Line,
    Opening,
    Region,
    imported,
    joined,
    lines_of,
    open_context,
    relocated,
)
from examples.masking import PLACEHOLDER, fill

INNER = "    "


@dataclass(frozen=True)
class Answer:
    """What an annotator or a model wrote: the editor's region, and the region for imports and helpers."""

    function: str
    module: str = ""


class Origin(NamedTuple):
    """Where a line of the program was written; lines count from 1 in the region."""

    region: Region
    line: int


@dataclass(frozen=True)
class Assembled:
    """A program without tests, ready to run as `__main__`.

    lines           the origin of each program line, in order
    warnings        sentences for the author, such as a helper that hides a name of the context
    function_found  whether the answer defines the function; where not, calling it raises NotImplementedError
    error           the first place that this process' Python cannot parse; the container's Python decides
    """

    program: str
    lines: tuple[Origin, ...]
    warnings: tuple[str, ...]
    function_found: bool
    error: Mark | None


def starting_answer(context: str, gap: int) -> str:
    """Return the editor's first text: decorators, signature and docstring at column 0, and an empty indented line.

    Raises MaskingError where no function is open at the gap.
    """
    opening = open_context(context, gap)
    return joined([*opening.decorators, *opening.signature_lines(INNER)]) + INNER


def empty_program(context: str, gap: int) -> str:
    """Return the program whose open function does nothing: `...` behind its docstring."""
    return fill(context, gap, PLACEHOLDER)


def reference_program(context: str, gap: int, reference: str) -> str:
    """Return the program with the reference, byte for byte as published, without the tests."""
    return fill(context, gap, reference)


def assemble(context: str, gap: int, answer: Answer, *, tests: Collection[str] = ()) -> Assembled:
    """Return the program that runs an answer. `tests` are the names that the tests bind, which helpers must not hide.

    Raises MaskingError where no function is open at the gap.
    """
    opening = open_context(context, gap)
    module = lines_of(answer.module, "module") if answer.module.strip() else []
    helpers, module_error = answers.parsed(module)
    reading = answers.read(lines_of(answer.function, "function"), opening)
    extra = answers.chunks(helpers, module) if helpers else []
    before = [*extra, *reading.before]
    loose = [] if helpers else module
    function = _function(opening, reading, answer)
    beside, left_out = _beside(opening, reading)
    parts = [
        *opening.lines[: opening.future_at],
        *_of_kind("future", [*before, *reading.after]),
        *opening.lines[opening.future_at : opening.import_at],
        *_of_kind("import", [*before, *reading.after]),
        *opening.lines[opening.import_at : opening.holder],
        *loose,
        *_of_kind("code", before),
        *opening.lines[opening.holder : opening.first],
        *relocated(beside, "", opening.indentation),
        *([] if reading.decorated else opening.lines[opening.first : opening.signature]),
        *function,
        *opening.lines[opening.end : opening.holder_end],
        *_of_kind("code", reading.after),
        *opening.lines[opening.holder_end :],
    ]
    warnings = [
        *_shadowing([*before, *reading.after], opening, tests),
        *left_out,
        *_guards([*before, *reading.after]),
    ]
    lines = [
        line if line.text.endswith(("\n", "\r")) else line._replace(text=line.text + "\n") for line in parts
    ]
    return Assembled(
        program=joined(lines),
        lines=tuple(Origin(line.region, line.number) for line in lines),
        warnings=tuple(dict.fromkeys(warnings)),
        function_found=bool(reading.function),
        error=module_error or reading.error,
    )


def _of_kind(kind: str, chunks: Iterable[Chunk]) -> list[Line]:
    return [line for chunk in chunks if chunk.kind == kind for line in chunk.lines]


def _function(opening: Opening, reading: Reading, answer: Answer) -> list[Line]:
    """Return the lines that take the open function's place: the answer's, what does not parse, or a refusal to run."""
    if reading.function:
        return relocated(reading.function, "", opening.indentation)
    if reading.error:
        return relocated(lines_of(answer.function, "function"), "", opening.indentation)
    refusal = f'raise NotImplementedError("the answer does not define {opening.name}")\n'
    whole = [*opening.signature_lines(INNER), Line(INNER + refusal, "context", opening.signature + 1)]
    return relocated(whole, "", opening.indentation)


def _beside(opening: Opening, reading: Reading) -> tuple[list[Line], list[str]]:
    """Return the methods that an answer's class adds, and a warning for each that differs from the context's."""
    added: list[Line] = []
    warnings = []
    for node, lines in reading.beside:
        if node.name not in opening.siblings:
            added += lines
        elif opening.siblings[node.name] != ast.dump(node):
            warnings.append(f"`{node.name}` of the answer's class was left out: the context has its own.")
    return added, warnings


def _guards(chunks: Iterable[Chunk]) -> list[str]:
    found = any(chunk.kind == "guard" for chunk in chunks)
    return ['The `if __name__ == "__main__":` block of the answer was left out.'] if found else []


def _shadowing(chunks: Iterable[Chunk], opening: Opening, tests: Collection[str]) -> list[str]:
    """Return a warning for each name of the context or the tests that code beside the function binds anew."""
    warnings = []
    for chunk in chunks:
        if chunk.kind in ("future", "guard"):
            continue
        for node in chunk.nodes:
            same = {name for name, target in imported(node) if opening.names.get(name) == target}
            if isinstance(node, python.DEFINITIONS) and opening.names.get(node.name) == ast.dump(node):
                same = {node.name}
            for name in sorted(python.bound_names(node) - same):
                if name in tests:
                    warnings.append(f"`{name}` hides a name of the tests.")
                elif name in opening.names:
                    warnings.append(f"`{name}` hides a name of the context.")
    return warnings
