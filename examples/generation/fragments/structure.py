"""The shape of a function: what two copies share that differ in names of locals, docstring, comments and layout; pure."""

from __future__ import annotations

import ast
import hashlib

from examples.languages.python.source import FUNCTIONS, Definition, FunctionNode, docstring_node


def structure_of(function: FunctionNode) -> str:
    """Return a sha256, in hex, of the function's syntax tree without its own name, names of locals, docstrings.

    Names that come from outside (globals, attributes, keywords of calls) count: they are what the function does.
    """
    names = {function.name: "function", **{name: f"v{at}" for at, name in enumerate(_locals(function))}}
    shape = _Shape(names).dump(function)
    return hashlib.sha256(shape.encode()).hexdigest()


def _locals(function: FunctionNode) -> dict[str, None]:
    """Return the names that the function binds anywhere in it, in the order in which they first appear."""
    outside = {
        name
        for node in ast.walk(function)
        if isinstance(node, ast.Global | ast.Nonlocal)
        for name in node.names
    }
    bound: dict[str, None] = {}
    for node in _in_order(function):
        name = ""
        if isinstance(node, ast.arg):
            name = node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            name = node.id
        elif isinstance(node, (*FUNCTIONS, ast.ClassDef, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)):
            name = node.name or ""
        elif isinstance(node, ast.alias):
            name = node.asname or ""  # an import without one says what is used
        if name and name not in outside and node is not function:
            bound.setdefault(name)
    return bound


def _in_order(node: ast.AST) -> list[ast.AST]:
    return [node, *(inner for child in ast.iter_child_nodes(node) for inner in _in_order(child))]


class _Shape:
    """Writes a tree down with some names replaced."""

    def __init__(self, names: dict[str, str]) -> None:
        self.names = names

    def dump(self, value: object) -> str:
        if isinstance(value, ast.AST):
            return f"{type(value).__name__}({','.join(self._fields(value))})"
        if isinstance(value, list):
            return f"[{','.join(self.dump(each) for each in value)}]"
        return repr(value)

    def _fields(self, node: ast.AST) -> list[str]:
        fields = dict(ast.iter_fields(node))
        if isinstance(node, Definition) and docstring_node(node):
            fields["body"] = node.body[1:]
        for own in ("id", "arg", "name", "asname", "rest"):
            value = fields.get(own)
            if isinstance(value, str) and not isinstance(node, ast.keyword):
                fields[own] = self.names.get(value, value)
        fields.pop("type_comment", None)
        fields.pop("kind", None)
        return [f"{name}={self.dump(value)}" for name, value in fields.items()]
