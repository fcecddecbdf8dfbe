"""RepoST (Xie et al. 2025): `eval_script` holds a function, a differential test of it, and a `__main__` block.

The published protocol puts the function under test into the script as `<name>_new_implementation`, after the function it
is compared with, and runs the script; passing is to come to its end. Here the reference itself is put there, so what is
run is whether the script works at all. The test function and the block become tests and block; the rest is the program.
Scripts that import what is not in the standard library are left out. A script without a test function at top level is
run whole as one test, `__main__`.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from textwrap import dedent
from typing import Any

from runner.languages.python.parsing import parse
from runner.reproducing.base import FileUnusable, Format, Known, Sample, field, objects
from runner.sandbox.base import Job, Limits

MAIN = "__main__"
SUFFIX = "_new_implementation"
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
Function = ast.FunctionDef | ast.AsyncFunctionDef


def scripts(paths: Sequence[Path], limits: Limits) -> Iterator[Sample]:
    """Yield the scripts that need the standard library alone, with the reference as the new implementation."""
    (path,) = paths
    for item in objects(path):
        script = field(item, "eval_script", str, path)
        try:
            tree = parse(script)
        except SyntaxError as error:
            raise FileUnusable(f"{path}: eval_script of {item.get('idx')}: {error}") from error
        if imported(tree) <= sys.stdlib_module_names:
            made = with_new_implementation(script, tree, field(item, "func_name", str, path))
            yield Sample(field(item, "idx", str, path), job_of(made, limits), recorded=True)


def imported(tree: ast.Module) -> set[str]:
    """Return the top-level names of all modules that are imported anywhere; "" for a relative import."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add("" if node.level else (node.module or "").partition(".")[0])
    return names


def with_new_implementation(script: str, tree: ast.Module, name: str) -> str:
    """Return the script with a copy of the function `a.b.name` behind it, under the name the test calls.

    The script as it stands where there is no such function (it is inside another one, or a class of a class).
    """
    function = found(tree, name)
    if function is None:
        return script
    lines = _lines(script)
    first = min([function.lineno, *(decorator.lineno for decorator in function.decorator_list)])
    last = function.end_lineno or function.lineno
    copy = lines[first - 1 : last]
    at = function.lineno - first
    copy[at] = re.sub(rf"\bdef\s+{re.escape(function.name)}\b", rf"\g<0>{SUFFIX}", copy[at], count=1)
    copy[-1] = copy[-1].rstrip("\r\n") + "\n"
    return "".join([*lines[:last], "\n", *copy, *lines[last:]])


def found(tree: ast.Module, name: str) -> Function | None:
    """Return the function with a dotted name, None where there is none."""
    owner: Any = tree
    for part in name.split("."):
        owner = next((node for node in owner.body if getattr(node, "name", None) == part), None)
        if not isinstance(owner, (ast.ClassDef, *FUNCTIONS)):
            return None
    return owner if isinstance(owner, FUNCTIONS) else None


def job_of(script: str, limits: Limits) -> Job:
    """Return the job of a script: its last test function and its block, the rest as the program."""
    tree = parse(script)
    tests = [node for node in tree.body if isinstance(node, FUNCTIONS) and node.name.startswith("test")]
    blocks = [node for node in tree.body if isinstance(node, ast.If) and MAIN in ast.unparse(node.test)]
    if not tests or not blocks:
        return Job("", "", (MAIN,), limits, block=script)
    block = dedent(_cut(script, blocks[-1].body))
    return Job(
        _without(script, [tests[-1], blocks[-1]]),
        _cut(script, [tests[-1]]),
        (tests[-1].name,),
        limits,
        block=block,
    )


def _lines(script: str) -> list[str]:
    """Return the lines as the parser counts them: `str.splitlines` ends one at a form feed, too."""
    return re.findall(r"[^\n]*\n|[^\n]+", script)


def _span(node: ast.stmt) -> range:
    decorators = node.decorator_list if isinstance(node, FUNCTIONS) else []
    first = min([node.lineno, *(decorator.lineno for decorator in decorators)])
    return range(first - 1, node.end_lineno or node.lineno)


def _cut(script: str, nodes: Sequence[ast.stmt]) -> str:
    lines = _lines(script)
    return "".join(lines[_span(nodes[0]).start : _span(nodes[-1]).stop])


def _without(script: str, nodes: Sequence[ast.stmt]) -> str:
    """Return the script with the lines of these statements left empty, so that all others keep their numbers."""
    empty = {line for node in nodes for line in _span(node)}
    return "".join("\n" if number in empty else line for number, line in enumerate(_lines(script)))


FORMATS = (
    Format(
        "repost",
        "RepoST, standard library only",
        ("checked_test_set_final.json",),
        scripts,
        10,
        (Known("", 175, 160),),
    ),
)
