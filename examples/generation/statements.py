"""The top-level statements of a module: what each binds, needs and changes, and its text with its comments; pure."""

from __future__ import annotations

import ast
import symtable
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from examples.languages.python import source as python

CATCHES_IMPORT_ERROR = {"ImportError", "ModuleNotFoundError", "Exception", "BaseException"}
Import = ast.Import | ast.ImportFrom


@dataclass(frozen=True)
class Imported:
    """One name of an import statement.

    module   as written, "" in `from . import x`;  level  number of dots
    member   the name taken from the module, "" where the module itself is taken, "*" for all
    bound    the name that it has afterwards
    guarded  whether an `except ImportError` stands around it
    """

    module: str
    level: int
    member: str
    bound: str
    line: int
    guarded: bool = False

    @property
    def shown(self) -> str:
        """The module as written, with its dots."""
        return "." * self.level + self.module


@dataclass(frozen=True)
class Statement:
    """A top-level statement, or several that share a line; lines count from 1, the last one included.

    `line` is where it starts, `first` where the comments right above it do.
    """

    number: int
    nodes: tuple[ast.stmt, ...]
    first: int
    line: int
    last: int
    binds: tuple[str, ...]

    @cached_property
    def is_import(self) -> bool:
        """Whether it is nothing but an import, so that it may be narrowed or left out."""
        return len(self.nodes) == 1 and isinstance(self.nodes[0], Import)

    @cached_property
    def imports(self) -> tuple[Imported, ...]:
        """What it imports, where it is an import."""
        return tuple(_imported(self.nodes[0], guarded=False)) if self.is_import else ()

    @cached_property
    def inner_imports(self) -> tuple[Imported, ...]:
        """What is imported anywhere inside it."""
        return tuple(each for node in self.nodes for each in _imports_inside(node, guarded=False))

    @cached_property
    def needs(self) -> tuple[str, ...]:
        """The names that it takes from the module or beyond, in order of their first appearance in any scope."""
        caught = _caught_names(self.nodes)
        return tuple(name for name in globals_read(ast.Module(list(self.nodes), [])) if name not in caught)


class Module:
    """A module's statements, by what they bind. Raises python.SourceInvalid."""

    def __init__(self, text: str, name: str, *, is_package: bool = False) -> None:
        self.name = name
        self.tree = python.parse(text)
        self.package = name if is_package else name.rpartition(".")[0]
        self.lines = text.encode().splitlines(keepends=True)
        self.newline = "\r\n" if self.lines and self.lines[0].endswith(b"\r\n") else "\n"
        self.statements = list(_statements(self.tree, self.lines))
        self.binders: dict[str, list[Statement]] = {}
        self.global_binders: dict[str, list[Statement]] = {}
        self.changes: dict[str, list[Statement]] = {}
        self.future: set[str] = set()
        self.stars: list[Statement] = []
        for statement in self.statements:
            self._sort(statement)

    def _sort(self, statement: Statement) -> None:
        if any(python.is_main_guard(node) for node in statement.nodes):
            return
        if statement.is_import and statement.imports[0].module == "__future__":
            self.future |= {each.member for each in statement.imports}
            return
        if statement.is_import and statement.imports[0].member == "*":
            self.stars.append(statement)
            return
        for name in statement.binds:
            self.binders.setdefault(name, []).append(statement)
        for node in statement.nodes:
            for name in _changed(node) - set(statement.binds):
                self.changes.setdefault(name, []).append(statement)
            for name in _assigned_as_global(node):
                self.global_binders.setdefault(name, []).append(statement)

    def is_own_package(self, imported: Imported) -> bool:
        """Return whether an import is one of the package that this module belongs to."""
        top = self.name.partition(".")[0]
        return imported.level > 0 or (top != "" and imported.module.partition(".")[0] == top)

    def resolve(self, imported: Imported) -> str:
        """Return the dotted name of the module that an import of the own package names; "" where it leads out."""
        if not imported.level:
            return imported.module
        parts = self.package.split(".") if self.package else []
        if imported.level - 1 > len(parts):
            return ""
        base = parts[: len(parts) - (imported.level - 1)]
        return ".".join([*base, *([imported.module] if imported.module else [])])

    def text_of(self, statement: Statement, first: int = 0) -> str:
        """Return a statement's lines, with the comments right above it."""
        return b"".join(self.lines[(first or statement.first) - 1 : statement.last]).decode()

    def written(
        self, kept: set[int], imported: Mapping[int, set[str]], aliases: Mapping[int, Mapping[str, str]]
    ) -> str:
        """Return the kept statements in their order, ended by a line break; what lay between two neighbours stays.

        `imported` are imports with the names that are wanted of each; `aliases` imports that became `name = member`.
        """
        pieces: list[str] = []
        former: Statement | None = None
        for number in sorted(kept | imported.keys() | aliases.keys()):
            statement = self.statements[number]
            text = self.text_of(statement)
            if number in aliases:
                text = "".join(f"{name} = {member}{self.newline}" for name, member in aliases[number].items())
            elif number in imported and len(imported[number]) < len(statement.imports):
                text = _narrowed(statement.nodes[0], imported[number]) + self.newline
            if not text.endswith(("\n", "\r")):
                text += self.newline
            if former is not None:
                pieces.append(self._between(former, statement))
            pieces.append(text)
            former = statement
        return "".join(pieces)

    def _between(self, former: Statement, statement: Statement) -> str:
        """Return what parts two statements: the lines as they are between neighbours, else blank lines."""
        if statement.number == former.number + 1:
            return b"".join(self.lines[former.last : statement.first - 1]).decode()
        definition = any(isinstance(node, python.DEFINITIONS) for node in (*former.nodes, *statement.nodes))
        both_imports = former.is_import and statement.is_import
        return self.newline * (2 if definition else 0 if both_imports else 1)


def _statements(tree: ast.Module, lines: list[bytes]) -> Iterator[Statement]:
    """Yield the module's statements; those that share a line are one."""
    groups: list[list[ast.stmt]] = []
    last = 0
    docstring = python.docstring_node(tree)
    for node in tree.body:
        if node is docstring:
            last = node.end_lineno or 0
            continue
        if groups and python.first_line(node, lines) <= last:
            groups[-1].append(node)
        else:
            groups.append([node])
        last = node.end_lineno or node.lineno
    end = (docstring.end_lineno or 0) if docstring else 0
    for number, nodes in enumerate(groups):
        line = python.first_line(nodes[0], lines)
        first = line
        while first - 1 > end and lines[first - 2].startswith(b"#") and not _is_header(lines, first - 1):
            first -= 1
        end = nodes[-1].end_lineno or nodes[-1].lineno
        binds = dict.fromkeys(name for node in nodes for name in sorted(_binds(node)))
        yield Statement(number, tuple(nodes), first, line, end, tuple(binds))


def _is_header(lines: list[bytes], line: int) -> bool:
    """Return whether a line is the interpreter's or the encoding's, at the top of the file."""
    text = lines[line - 1]
    return line <= 2 and (text.startswith(b"#!") or b"coding" in text)


def _binds(node: ast.stmt) -> set[str]:
    """Return the names that a top-level statement binds, imports inside its blocks included."""
    names = python.bound_names(node)
    if isinstance(node, python.DEFINITIONS):
        return names
    if isinstance(node, Import):
        return {each.bound for each in _imported(node, guarded=False)}
    names |= {each.bound for block in python.blocks(node) for each in _imports_of(block)}
    return names


def _imports_of(block: list[ast.stmt]) -> Iterator[Imported]:
    for statement in block:
        if isinstance(statement, Import):
            yield from _imported(statement, guarded=False)
        elif not isinstance(statement, python.DEFINITIONS):
            for inner in python.blocks(statement):
                yield from _imports_of(inner)


def _imported(node: ast.AST, *, guarded: bool) -> Iterator[Imported]:
    if isinstance(node, ast.Import):
        for each in node.names:
            bound = each.asname or each.name.partition(".")[0]
            yield Imported(each.name, 0, "", bound, node.lineno, guarded)
    elif isinstance(node, ast.ImportFrom):
        for each in node.names:
            yield Imported(
                node.module or "",
                node.level,
                each.name if node.module else "*" if each.name == "*" else "",
                each.asname or each.name,
                node.lineno,
                guarded,
            )


def _imports_inside(node: ast.AST, *, guarded: bool) -> Iterator[Imported]:
    if isinstance(node, Import):
        yield from _imported(node, guarded=guarded)
    elif isinstance(node, ast.Try):
        catches = any(_catches(handler, CATCHES_IMPORT_ERROR) for handler in node.handlers)
        for statement in node.body:
            yield from _imports_inside(statement, guarded=guarded or catches)
        for rest in [*node.handlers, *node.orelse, *node.finalbody]:
            yield from _imports_inside(rest, guarded=guarded)
    elif isinstance(node, ast.If) and _is_type_checking(node.test):
        for statement in node.body:
            yield from _imports_inside(statement, guarded=True)
    else:
        for child in ast.iter_child_nodes(node):
            yield from _imports_inside(child, guarded=guarded)


def _is_type_checking(test: ast.expr) -> bool:
    name = test.attr if isinstance(test, ast.Attribute) else getattr(test, "id", "")
    return name == "TYPE_CHECKING"


def _catches(handler: ast.ExceptHandler, names: set[str]) -> bool:
    if handler.type is None:
        return True
    parts = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(getattr(part, "id", "") in names for part in parts)


def _caught_names(nodes: tuple[ast.stmt, ...]) -> set[str]:
    """Return the names read where a NameError is caught: `try: unicode … except NameError`."""
    return {
        inner.id
        for node in nodes
        for each in ast.walk(node)
        if isinstance(each, ast.Try) and any(_catches(handler, {"NameError"}) for handler in each.handlers)
        for statement in each.body
        for inner in ast.walk(statement)
        if isinstance(inner, ast.Name)
    }


def globals_read(module: ast.Module) -> list[str]:
    """Return the names that a module's statements read from its own namespace or beyond, each once, in any scope."""
    table = symtable.symtable(ast.unparse(module), "<statements>", "exec")
    return list(dict.fromkeys(_globals_read(table, top=True)))


def _globals_read(table: symtable.SymbolTable, *, top: bool) -> Iterator[str]:
    for symbol in table.get_symbols():
        # In a function called `top`, symtable takes locals for globals as well (it tells modules by that name).
        if symbol.is_referenced() and (top or (symbol.is_global() and not symbol.is_local())):
            yield symbol.get_name()
    for inner in table.get_children():
        yield from _globals_read(inner, top=False)


def _assigned_as_global(node: ast.stmt) -> set[str]:
    """Return the names that functions inside a statement declare global and bind."""
    found: set[str] = set()
    for function in ast.walk(node):
        if isinstance(function, python.FUNCTIONS):
            inside = list(ast.walk(function))
            declared = {name for each in inside if isinstance(each, ast.Global) for name in each.names}
            names = (each for each in inside if isinstance(each, ast.Name))
            found |= declared & {each.id for each in names if isinstance(each.ctx, ast.Store)}
    return found


def _changed(node: ast.stmt) -> set[str]:
    """Return the names whose objects a top-level statement changes, without binding them."""
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AugAssign | ast.AnnAssign):
        targets = [node.target]
    elif isinstance(node, ast.Delete):
        targets = [each for each in node.targets if not isinstance(each, ast.Name)]
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        targets = [node.value.func] if isinstance(node.value.func, ast.Attribute) else []
    elif isinstance(node, ast.For | ast.If | ast.With | ast.While):
        return {name for block in python.blocks(node) for inner in block for name in _changed(inner)}
    roots = {_root(target) for target in targets if isinstance(target, ast.Attribute | ast.Subscript)}
    return roots - {""}


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _narrowed(node: ast.stmt, names: set[str]) -> str:
    """Return an import with only the names that are wanted of it."""
    if isinstance(node, ast.Import):
        kept = [each for each in node.names if (each.asname or each.name.partition(".")[0]) in names]
        return ast.unparse(ast.Import(kept))
    assert isinstance(node, ast.ImportFrom)
    kept = [each for each in node.names if (each.asname or each.name) in names]
    return ast.unparse(ast.ImportFrom(node.module, kept, node.level))
