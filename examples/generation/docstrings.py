"""The docstring without a model: its examples taken out of the source, and an instruction made of what it says; pure."""

from __future__ import annotations

import ast
import doctest
import inspect
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from examples.generation.doctests import has_examples
from examples.languages.python import source as python

HEADING = re.compile(
    r"\s*(?:(?:doc)?tests?|examples?|usage|for example|for instance|e\.?g\.?|sample(?: usage)?)\s*[:.]*\s*",
    re.IGNORECASE,
)
LITERAL = re.compile(
    r"(?P<open>[rRuU]{0,2}(?:\"\"\"|'''|\"|'))(?P<text>.*?)(?P<close>\"\"\"|'''|\"|')", re.DOTALL
)
INPUTS = re.compile(r"(?:args|arguments|parameters|params|inputs?)\s*:?", re.IGNORECASE)
OUTPUTS = re.compile(r"(?:returns?|yields?|outputs?)\s*:?", re.IGNORECASE)
KEPT = re.compile(r"(?:raises?|notes?|warnings?|warns)\s*:?", re.IGNORECASE)
DROPPED = re.compile(r"(?:see also|references?|examples?|todo|authors?)\s*:?", re.IGNORECASE)
FIELD = re.compile(r":(?P<kind>\w+)(?:\s+(?P<what>[^:]+))?:\s*(?P<said>.*)")
TYPED = re.compile(r":(?:type|rtype)\b")


class DocstringInvalid(ValueError):
    """A docstring that cannot be used; the message says why."""


class Instruction(NamedTuple):
    """What a solver reads, in the three parts of CodeBenchGen's instructions; "" where the docstring does not say."""

    functionality: str
    inputs: str
    outputs: str

    @property
    def text(self) -> str:
        """The parts that there are, each with its name."""
        parts = {"Functionality": self.functionality, "Inputs": self.inputs, "Outputs": self.outputs}
        told = {
            name: f"\n\n{said}" if said.startswith("- ") else f" {said}"
            for name, said in parts.items()
            if said
        }
        return "\n\n".join(f"{name}:{said}" for name, said in told.items())


def without_examples(text: str, name: str) -> str:
    """Return a source without the doctest examples of the function `name`, and without those elsewhere that call it.

    Every other byte stays. A docstring that holds nothing else is emptied. Raises DocstringInvalid where one cannot be
    edited in place, such as one with escaped line breaks.
    """
    tree = python.parse(text)
    focal = python.find(tree, name)
    short = name.rpartition(".")[2]
    edits = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Module | python.Definition):
            continue
        statement = python.docstring_node(node)
        if statement is None:
            continue
        said = _said(statement)
        if has_examples(said) and (node is focal or _examples_call(said, short)):
            edits.append(statement)
    return _edited(text, edits)


def instruction_of(text: str, name: str) -> Instruction:
    """Return the instruction that a function's docstring gives, its examples left out.

    Inputs and outputs are those that the docstring names under a heading or as fields; where it names no inputs, the
    signature is given, which says nothing new. Raises DocstringInvalid where there is no description.
    """
    focal = python.find(python.parse(text), name)
    docstring = ast.get_docstring(focal, clean=False) or ""
    lines = inspect.cleandoc("\n".join(_kept_lines(docstring))).splitlines()
    functionality, inputs, outputs = _sections(lines)
    if not functionality and outputs:
        functionality, outputs = outputs, ""
    if len(functionality.split()) < 2:
        raise DocstringInvalid(f"The docstring of {name} says nothing beside its examples.")
    inputs = re.sub(r"(?m)^(?=\*{0,2}\w+[\w, *]*(?:\([^)\n]*\))?\s*(?::|-\s))", "- ", inputs)
    return Instruction(functionality, inputs or _signature(focal), outputs)


def _examples_call(docstring: str, name: str) -> bool:
    """Return whether an example of a docstring uses a name; True also where that cannot be told."""
    try:
        examples = doctest.DocTestParser().get_examples(docstring)
    except ValueError:
        return name in docstring
    return any(name in re.findall(r"\w+", each.source) for each in examples)


def _edited(text: str, statements: Sequence[ast.stmt]) -> str:
    positions = python.Positions(text)
    data = positions.data
    for statement in sorted(statements, key=positions.start, reverse=True):
        start, end = positions.start(statement), positions.end(statement)
        matched = LITERAL.fullmatch(data[start:end].decode())
        said = _said(statement)
        if matched is None or matched["text"].count("\n") != said.count("\n"):
            raise DocstringInvalid(
                f"The docstring in line {statement.lineno} is written in a way in which its examples cannot be taken out."
            )
        source_lines = matched["text"].replace("\r\n", "\n").split("\n")
        kept = _kept(said, source_lines)
        body = _trimmed(kept, positions.lines[statement.lineno - 1])
        newline = "\r\n" if b"\r\n" in data[start:end] else "\n"
        new = f"{matched['open']}{body}{matched['close']}".replace("\n", newline)
        data = data[:start] + new.encode() + data[end:]
    return data.decode()


def _said(docstring: ast.stmt) -> str:
    """Return what the statement of a docstring says."""
    return str(ast.literal_eval(docstring.value)) if isinstance(docstring, ast.Expr) else ""


def _trimmed(lines: Sequence[str], first_line: bytes) -> str:
    """Return a docstring's lines as its text, ended as before: the closing quotes on a line of their own."""
    text = _collapsed("\n".join(lines))
    if not text.strip():
        return ""
    if "\n" not in text.rstrip():
        return text.rstrip()
    indent = first_line[: len(first_line) - len(first_line.lstrip())].decode()
    return f"{text.rstrip()}\n{indent}"


def _collapsed(text: str) -> str:
    """Return a text with one blank line where several stood."""
    return re.sub(r"\n(?:[ \t]*\n){2,}", "\n\n", text)


def _kept_lines(docstring: str) -> list[str]:
    return _kept(docstring, docstring.split("\n"))


def _kept(docstring: str, lines: Sequence[str]) -> list[str]:
    """Return those of `lines`, which are the docstring's as written, that belong to no example and lead to none."""
    try:
        examples = doctest.DocTestParser().get_examples(docstring)
    except ValueError as error:
        raise DocstringInvalid(f"The docstring's examples are malformed: {error}.") from error
    gone: set[int] = set()
    for each in examples:
        count = each.source.count("\n") + each.want.count("\n")
        gone |= set(range(each.lineno, each.lineno + count))
    # An example of comments alone, which doctest passes over.
    gone |= {at for at, line in enumerate(docstring.split("\n")) if line.lstrip().startswith(">>>")}
    for first in sorted(gone):
        _drop_heading(first - 1, lines, gone)
    kept = [line for at, line in enumerate(lines) if at not in gone]
    leads = {at for at in range(len(lines)) if at not in gone and _leads(at, lines, gone)}
    numbers = [at for at in range(len(lines)) if at not in gone]
    return [
        re.sub(r"\s*:{1,2}\s*$", ".", line) if at in leads else line
        for at, line in zip(numbers, kept, strict=True)
    ]


def _drop_heading(at: int, lines: Sequence[str], gone: set[int]) -> None:
    """Mark the heading above an example, with its underline, as gone too."""
    while at >= 0 and (at in gone or not lines[at].strip()):
        at -= 1
    if at > 0 and re.fullmatch(r"\s*[-=~^]{3,}\s*", lines[at]) and HEADING.fullmatch(lines[at - 1]):
        gone |= {at, at - 1}
    elif at >= 0 and HEADING.fullmatch(lines[at]):
        gone.add(at)


def _leads(at: int, lines: Sequence[str], gone: set[int]) -> bool:
    """Return whether a line ends with a colon and the next that says something is an example that is gone."""
    if not lines[at].rstrip().endswith(":"):
        return False
    following = next((each for each in range(at + 1, len(lines)) if lines[each].strip()), None)
    return following in gone


def _sections(lines: Sequence[str]) -> tuple[str, str, str]:
    """Return functionality, inputs and outputs of a docstring's lines: Google, NumPy and Sphinx forms are known."""
    parts: dict[str, list[str]] = {"functionality": [], "inputs": [], "outputs": [], "other": []}
    current = "functionality"
    for line in _without_underlines(lines):
        field = FIELD.match(line.strip())
        if TYPED.match(line.strip()):
            continue
        if field and field["kind"] in ("param", "parameter", "arg", "argument", "key", "keyword"):
            current = "inputs"
            parts[current].append(f"- {(field['what'] or '').strip()}: {field['said']}")
        elif field and field["kind"] in ("return", "returns", "yield", "yields"):
            current = "outputs"
            parts[current].append(field["said"])
        elif field and field["kind"] in ("raises", "raise", "except"):
            current = "functionality"
            parts[current] += ["", f"Raises {(field['what'] or '').strip()}: {field['said']}"]
        elif heading := _heading(line):
            current = heading
            parts[current] += ["", line] if KEPT.fullmatch(line.strip()) else []
        else:
            after_blank = parts[current] and not parts[current][-1].strip()
            if current != "functionality" and after_blank and line and not line[0].isspace():
                current = "functionality"  # back at the margin: the section is over
            parts[current].append(line)
    told = {name: _collapsed("\n".join(_dedented(said))).strip() for name, said in parts.items()}
    return told["functionality"], told["inputs"], told["outputs"]


def _heading(line: str) -> str:
    """Return which part a line begins, "" where it is none of the known headings."""
    text = line.strip()
    if line[:1].isspace() or not text.endswith(":") or not text[:1].isalpha():
        return ""
    kinds = {"inputs": INPUTS, "outputs": OUTPUTS, "functionality": KEPT, "other": DROPPED}
    return next((part for part, pattern in kinds.items() if pattern.fullmatch(text)), "")


def _without_underlines(lines: Sequence[str]) -> Iterator[str]:
    """Yield the lines, NumPy's underlined headings as `Heading:`."""
    skip = False
    for at, line in enumerate(lines):
        if skip:
            skip = False
            continue
        below = lines[at + 1] if at + 1 < len(lines) else ""
        underlined = line.strip() and re.fullmatch(r"-{3,}\s*", below)
        skip = bool(underlined)
        yield f"{line.strip()}:" if underlined else line


def _dedented(lines: Sequence[str]) -> list[str]:
    return inspect.cleandoc("\n" + "\n".join(lines)).splitlines()


def _signature(focal: python.FunctionNode) -> str:
    """Return the function's arguments as written; "" where it takes none beside itself."""
    names = [each.arg for each in (*focal.args.posonlyargs, *focal.args.args, *focal.args.kwonlyargs)]
    rest = [each.arg for each in (focal.args.vararg, focal.args.kwarg) if each]
    if not [each for each in (*names, *rest) if each not in ("self", "cls")]:
        return ""
    return f"`{ast.unparse(focal.args)}`, as in the signature."
