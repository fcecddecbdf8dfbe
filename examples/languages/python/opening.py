"""What a context looks like around its gap: where the open function stands and where code may be put beside it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

from examples.languages.python import indentation
from examples.languages.python import source as python
from examples.masking import PLACEHOLDER, MaskingError, fill

Region = Literal["function", "module", "context"]


class Line(NamedTuple):
    """A line of code with its line break, and where it was written: a region of the answer, or the context."""

    text: str
    region: Region
    number: int


def lines_of(text: str, region: Region) -> list[Line]:
    """Return the lines of an answer's text, line breaks made LF."""
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    texts = plain.removesuffix("\n").split("\n")
    return [Line(line + "\n", region, number) for number, line in enumerate(texts, start=1)]


def joined(lines: list[Line]) -> str:
    """Return the text of lines."""
    return "".join(line.text for line in lines)


def relocated(lines: list[Line], old: str, new: str) -> list[Line]:
    """Return the lines with the indentation `old` replaced by `new`, the inside of strings untouched."""
    texts = [line.text for line in lines]
    texts = indentation.moved(texts, old, new, inside=indentation.inside_strings("".join(texts)))
    return [line._replace(text=text) for line, text in zip(lines, texts, strict=True)]


@dataclass(frozen=True)
class Opening:
    """A parsed context. Line numbers are indices from 0 into `lines`; ends are exclusive.

    first, signature, end   the open function: from its decorators, from its `def`, to behind the placeholder
    holder, holder_end      the top-level statement that holds it
    future_at, import_at    where `from __future__` and other imports may be put
    path                    its qualified name, split
    indentation             of its `def`
    header                  its signature and docstring, moved to column 0, the docstring by `inner`
    names                   what the context binds at the top level: name to its import or its dumped definition,
                            "" for other values
    siblings                functions beside it in its class, by name, dumped
    """

    lines: tuple[Line, ...]
    first: int
    signature: int
    end: int
    holder: int
    holder_end: int
    future_at: int
    import_at: int
    path: tuple[str, ...]
    indentation: str
    header: tuple[Line, ...]
    decorators: tuple[Line, ...]
    docstring: tuple[Line, ...]
    names: Mapping[str, str]
    siblings: Mapping[str, str]

    @property
    def name(self) -> str:
        """The function's own name."""
        return self.path[-1]

    def signature_lines(self, inner: str) -> list[Line]:
        """Return signature and docstring at column 0, the docstring indented by `inner`."""
        documented = [line._replace(text=inner + line.text) for line in self.docstring[:1]]
        return [*self.header, *documented, *self.docstring[1:]]


@lru_cache(maxsize=64)
def open_context(context: str, gap: int) -> Opening:
    """Return the context's structure. Raises MaskingError where no function is open at the gap."""
    source = fill(context, gap, PLACEHOLDER)
    try:
        tree = python.parse(source)
    except python.SourceInvalid as error:
        raise MaskingError(
            f"the context with {PLACEHOLDER} in its gap is not Python: {error.message}"
        ) from error
    positions = python.Positions(source)
    path = _path_to(tree, gap, positions)
    if not path:
        raise MaskingError(f"no function's body is open at byte {gap} of the context")
    focal, holder = path[-1], _holder(tree, path[-1])
    assert isinstance(focal, python.FUNCTIONS)
    first = python.first_line(focal, positions.lines) - 1
    texts = [line.decode() for line in positions.lines]
    before = [node for node in tree.body if node.lineno < holder.lineno]
    holder_first = python.first_line(holder, positions.lines) - 1
    future_at, import_at = _import_places(tree, before, holder_first, positions)
    indent = indentation.of(texts[focal.lineno - 1])
    header, docstring = _header(focal, positions, gap)
    decorators = indentation.spaced(indentation.moved(texts[first : focal.lineno - 1], indent, ""))
    siblings = path[-2].body if len(path) > 1 else []
    return Opening(
        lines=tuple(Line(text, "context", number) for number, text in enumerate(texts, start=1)),
        first=first,
        signature=focal.lineno - 1,
        end=positions.line_at(gap + len(PLACEHOLDER)),
        holder=holder_first,
        holder_end=holder.end_lineno or holder.lineno,
        future_at=future_at,
        import_at=import_at,
        path=tuple(node.name for node in path),
        indentation=indent,
        header=tuple(header),
        decorators=tuple(
            Line(text, "context", number) for number, text in enumerate(decorators, start=first + 1)
        ),
        docstring=tuple(docstring),
        names=_names(tree),
        siblings={node.name: ast.dump(node) for node in siblings if isinstance(node, python.FUNCTIONS)},
    )


def _path_to(tree: ast.Module, gap: int, positions: python.Positions) -> list[python.Definition]:
    """Return the definitions that lead to the function whose body starts, docstring apart, at the gap."""

    def search(body: list[ast.stmt]) -> list[python.Definition]:
        for node in python.children(body):
            if not positions.start(node) <= gap < positions.end(node):
                continue
            last = node.body[-1]
            if isinstance(node, python.FUNCTIONS) and positions.offset(last.lineno, last.col_offset) == gap:
                return [node]
            inner = search(node.body)
            if inner:
                return [node, *inner]
        return []

    return search(tree.body)


def _holder(tree: ast.Module, focal: python.Definition) -> ast.stmt:
    line = focal.lineno
    return next(node for node in reversed(tree.body) if node.lineno <= line <= (node.end_lineno or 0))


def _import_places(
    tree: ast.Module, before: list[ast.stmt], holder_first: int, positions: python.Positions
) -> tuple[int, int]:
    """Return the lines before which future imports and other imports go."""
    docstring = python.docstring_node(tree)
    futures = [node for node in before if isinstance(node, ast.ImportFrom) and node.module == "__future__"]
    leading = [*([docstring] if docstring in before else []), *futures]
    future_at = max((node.end_lineno or 0 for node in leading if node), default=-1)
    if future_at < 0:
        start = python.first_line(tree.body[0], positions.lines) - 1
        future_at = min(start, holder_first)
    imports = [node.end_lineno or 0 for node in before if isinstance(node, ast.Import | ast.ImportFrom)]
    places = [future_at, max([future_at, *imports])]
    for node in before:  # never into a statement that begins on the line of the last import
        places = [max(at, node.end_lineno or 0) if node.lineno <= at else at for at in places]
    return places[0], places[1]


def _header(
    focal: python.FunctionNode, positions: python.Positions, gap: int
) -> tuple[list[Line], list[Line]]:
    """Return the signature's lines at column 0 and the docstring's as they stand, its indentation taken off."""
    docstring = python.docstring_node(focal)
    start = positions.offset(focal.lineno, focal.col_offset)
    end = positions.start(docstring) if docstring else gap
    text = positions.data[start:end].decode().rstrip()
    header = _numbered(text, focal.lineno)
    indent = indentation.of(positions.lines[focal.lineno - 1].decode())
    inside = indentation.inside_strings(text + "\n")
    texts = indentation.moved([line.text for line in header], indent, "", inside=inside)
    header = [
        line._replace(text=text)
        for line, text in zip(header, indentation.spaced(texts, inside=inside), strict=True)
    ]
    if docstring is None:
        return header, []
    quoted = positions.data[positions.start(docstring) : positions.end(docstring)].decode()
    return header, _numbered(quoted, docstring.lineno)


def _numbered(text: str, first: int) -> list[Line]:
    return [
        line._replace(region="context", number=line.number + first - 1) for line in lines_of(text, "context")
    ]


def _names(tree: ast.Module) -> dict[str, str]:
    names: dict[str, str] = {}
    for statement in tree.body:
        names.update(dict.fromkeys(python.bound_names(statement), ""))
        names.update(imported(statement))
        if isinstance(statement, python.DEFINITIONS):
            names[statement.name] = ast.dump(statement)
    return names


def imported(statement: ast.stmt) -> Iterator[tuple[str, str]]:
    """Yield (name, what it is bound to) for each name that an import statement binds."""
    if isinstance(statement, ast.Import):
        for alias in statement.names:
            bound = alias.asname or alias.name.partition(".")[0]
            yield bound, f"import {alias.name if alias.asname else bound}"
    elif isinstance(statement, ast.ImportFrom):
        for alias in statement.names:
            yield (
                alias.asname or alias.name,
                f"from {'.' * statement.level}{statement.module or ''} import {alias.name}",
            )
