"""Python source text: parse it, find a definition, turn ast's positions into byte offsets."""

from __future__ import annotations

import ast
import difflib
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate

from runner.languages.python import parsing

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)

PYTHON_2 = re.compile(
    r"""^[ \t]*(?:print[ \t]+(?![=(]|>>=)[^=\s]|print[ \t]*>>|exec[ \t]+["'\w]|except[ \t]+[\w.()]+(?:,[ \t]*[\w.]+[ \t]*)+:"""
    r"""|raise[ \t]+[\w.]+[ \t]*,)|\bur["']|[^\w"'][0]+[1-7][0-7]*\b(?!\.)|<>"""
    r"""|,[ \t]*None,[ \t]*sys\.exc_info\(\)""",
    re.MULTILINE,
)
PYTHON_2_MESSAGES = (
    "Missing parentheses in call to",
    "leading zeros in decimal",
    "multiple exception types must be",
)


class SourceInvalid(ValueError):
    """A source text that is not Python 3; `line` counts from 1, 0 when not known."""

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.message = message
        self.line = line


class FunctionNotFound(LookupError):
    """No such definition; `near` holds the names that come closest."""

    def __init__(self, name: str, near: Sequence[str]) -> None:
        hint = f"; nearest: {', '.join(near)}" if near else "; the source defines no function"
        super().__init__(f"function {name!r} is not in the source{hint}")
        self.name = name
        self.near = tuple(near)


def parse(text: str) -> ast.Module:
    """Return the module. Raises SourceInvalid for anything that CPython refuses, with the reason in plain words."""
    if text.startswith("\ufeff"):
        raise SourceInvalid("starts with a byte order mark (U+FEFF); save the code as UTF-8 without one", 1)
    try:
        return parsing.parse(text)
    except SyntaxError as error:
        reason = error.msg or "invalid syntax"
        if looks_like_python_2(text, reason):
            reason = f"looks like Python 2: {reason}"
        raise SourceInvalid(reason, error.lineno or 0) from error
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start) + 1
        raise SourceInvalid(
            "holds half a character (a lone surrogate), which UTF-8 cannot express", line
        ) from error
    except ValueError as error:  # Python 3.11 before 3.11.4 says NUL this way
        raise SourceInvalid(str(error)) from error
    except (RecursionError, MemoryError) as error:
        raise SourceInvalid("is nested too deeply to be parsed") from error


def looks_like_python_2(text: str, reason: str) -> bool:
    """Return whether a text that Python 3 refuses shows a construction that only Python 2 has."""
    return reason.startswith(PYTHON_2_MESSAGES) or PYTHON_2.search(text) is not None


class Positions:
    """Byte offsets of a text's lines. A line ends at LF, CRLF or CR, as in CPython; form feeds do not end one."""

    def __init__(self, text: str) -> None:
        self.data = text.encode()
        self.lines = self.data.splitlines(keepends=True)
        self.starts = [0, *accumulate(len(line) for line in self.lines)]

    def offset(self, line: int, column: int) -> int:
        """Return the byte offset of ast's (line from 1, column in bytes)."""
        return self.starts[line - 1] + column

    def line_at(self, offset: int) -> int:
        """Return the line, from 1, that holds a byte offset."""
        return bisect_right(self.starts, offset, hi=max(len(self.lines), 1))

    def start(self, node: ast.stmt) -> int:
        """Return where a statement starts, its decorators included."""
        line = first_line(node, self.lines)
        if line == node.lineno:
            return self.offset(line, node.col_offset)
        text = self.lines[line - 1]
        return self.starts[line - 1] + len(text) - len(text.lstrip())

    def end(self, node: ast.stmt) -> int:
        """Return where a statement ends; a semicolon or comment behind it is not part of it."""
        return self.offset(node.end_lineno or node.lineno, node.end_col_offset or 0)


def first_line(node: ast.stmt, lines: Sequence[bytes | str]) -> int:
    """Return the line, from 1, where a statement starts: that of its first `@`, else of its keyword."""
    decorators = node.decorator_list if isinstance(node, DEFINITIONS) else []
    if not decorators:
        return node.lineno
    line = decorators[0].lineno
    while line > 1 and not _starts_with_at(lines[line - 1]):  # `@(` with the expression a line below
        line -= 1
    return line


def _starts_with_at(line: bytes | str) -> bool:
    return line.lstrip()[:1] in (b"@", "@")


def children(body: Sequence[ast.stmt]) -> Iterator[Definition]:
    """Yield the definitions of one level in source order, also those under if, try, with, for, while and match."""
    for statement in body:
        if isinstance(statement, DEFINITIONS):
            yield statement
        else:
            for block in blocks(statement):
                yield from children(block)


def blocks(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    """Yield the statement lists directly inside a statement, in source order."""
    for name in ("body", "handlers", "cases", "orelse", "finalbody"):
        inner = getattr(statement, name, [])
        if name in ("handlers", "cases"):
            yield from (part.body for part in inner)
        elif inner:
            yield inner


def find(tree: ast.Module, name: str) -> FunctionNode:
    """Return the function of a qualified name such as `Class.Inner.method`; the last one defined at its level wins.

    Raises FunctionNotFound.
    """
    found = _descend(tree.body, name.replace(".<locals>", "").split("."))
    if found is None:
        raise FunctionNotFound(name, nearest(tree, name))
    return found


def _descend(body: Sequence[ast.stmt], path: Sequence[str]) -> FunctionNode | None:
    for node in reversed([child for child in children(body) if child.name == path[0]]):
        if len(path) > 1:
            found = _descend(node.body, path[1:])
            if found is not None:
                return found
        elif isinstance(node, FUNCTIONS):
            return node
    return None


def qualified_names(body: Sequence[ast.stmt], prefix: str = "") -> Iterator[str]:
    """Yield the qualified names of all functions, nested ones included."""
    for node in children(body):
        if isinstance(node, FUNCTIONS):
            yield prefix + node.name
        yield from qualified_names(node.body, f"{prefix}{node.name}.")


def nearest(tree: ast.Module, name: str, count: int = 3) -> list[str]:
    """Return the function names closest to a name: those ending alike first, then those spelt alike, then the first."""
    names = list(dict.fromkeys(qualified_names(tree.body)))
    short = name.rpartition(".")[2]
    alike = [each for each in names if each.rpartition(".")[2] == short]
    alike += difflib.get_close_matches(name, names, n=count, cutoff=0.5)
    return list(dict.fromkeys(alike))[:count] or names[:count]


def docstring_node(node: ast.Module | FunctionNode | ast.ClassDef) -> ast.stmt | None:
    """Return the docstring's statement, or None."""
    first = node.body[0] if node.body else None
    if (
        isinstance(first, ast.Expr)
        and isinstance(first.value, ast.Constant)
        and isinstance(first.value.value, str)
    ):
        return first
    return None


def is_main_guard(node: ast.stmt) -> bool:
    """Return whether a statement is `if __name__ == "__main__":` (either way round)."""
    if not (isinstance(node, ast.If) and isinstance(node.test, ast.Compare) and len(node.test.ops) == 1):
        return False
    sides = [node.test.left, node.test.comparators[0]]
    names = any(isinstance(side, ast.Name) and side.id == "__name__" for side in sides)
    values = any(isinstance(side, ast.Constant) and side.value == "__main__" for side in sides)
    return names and values and isinstance(node.test.ops[0], ast.Eq)


def bound_names(statement: ast.stmt) -> set[str]:
    """Return the names that a statement binds in its own namespace."""
    if isinstance(statement, DEFINITIONS):
        return {statement.name}
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return {(alias.asname or alias.name).partition(".")[0] for alias in statement.names}
    names = {
        node.id
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    return names | {child.name for block in blocks(statement) for child in children(block)}
