"""RULES: their names, and what several of them ask of a syntax tree; pure."""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from dataclasses import dataclass, field

from examples.languages.python import source as python

# What each rule asks for, as pages and reports say it; the message of a broken one says what was found.
RULES = {
    "refusal": "The reply does what was asked.",
    "truncated": "The reply is whole.",
    "one_code_block": "The reply holds one block of Python code.",
    "shell_command": "The reply asks for no shell command.",
    "package_wish": "Nothing is needed that the environment lacks.",
    "syntax": "The code is Python 3.",
    "focal_missing": "The focal function is still there.",
    "omission": "Nothing is left out or stands for something else.",
    "shortened": "The focal function is not shortened.",
    "holds_tests": "The program brings no tests of its own.",
    "runs_commands": "Neither program nor tests run commands that the source did not.",
    "no_test": "There is a test function at the top level that needs no arguments.",
    "redefines": "The tests define nothing that the program defines.",
    "does_not_call": "Each test calls the focal function.",
    "vacuous_assertion": "Each assertion can fail.",
    "too_few_assertions": "There are at least three assertions.",
    "same_again": "A repair changes something.",
    "accepts_empty_body": "A function that does nothing fails the tests.",
    "no_new_test": "What is added is a test that the reference passes.",
    "incomplete_instruction": "The instruction says Functionality, Inputs and Outputs.",
    "reveals_solution": "The instruction does not reveal the solution.",
    "reveals_tests": "The instruction does not reveal what hidden tests expect.",
}

LEFT_OUT = re.compile(
    r"\.\.\.|…|unchanged|remains? (?:the )?same|same as (?:before|above)|rest of (?:the|your)|existing code"
    r"|previous code|(?:code|body|implementation) (?:here|omitted|goes)|omitted for|your code",
    re.IGNORECASE,
)
COMMANDS = {
    "subprocess": None,
    "pty": None,
    "os": ("system", "popen", "execv", "execve", "execvp", "fork", "spawnl", "spawnv", "posix_spawn", "kill"),
}


class RuleBroken(Exception):
    """A rule that a text breaks: its code, and what was found, so that it can be asked again with the reason."""

    def __init__(self, rule: str, message: str) -> None:
        super().__init__(f"{rule}: {message}")
        self.rule = rule
        self.message = message


@dataclass(frozen=True)
class Allowed:
    """What a text may import: the modules that the environment provides, and those that were there before."""

    provided: frozenset[str] = field(default_factory=frozenset)

    def lacks(self, name: str) -> bool:
        """Return whether a top-level module is not to be had."""
        return name not in sys.stdlib_module_names and name not in self.provided


def parsed(text: str) -> ast.Module:
    """Return the module. Raises RuleBroken (`syntax`)."""
    try:
        return python.parse(text)
    except python.SourceInvalid as error:
        place = f"line {error.line}: " if error.line else ""
        raise RuleBroken("syntax", f"{place}{error.message}.") from error


def focal_in(tree: ast.Module, function: str) -> python.FunctionNode:
    """Return the focal function of a source, also where a method was published without its class.

    Raises python.FunctionNotFound.
    """
    try:
        return python.find(tree, function)
    except python.FunctionNotFound:
        return python.find(tree, function.rpartition(".")[2])


def refuse_omissions(text: str, tree: ast.Module, before: str = "") -> None:
    """Raise RuleBroken (`omission`) for `...` as a statement, or a comment that stands for code, which were not there before."""
    was = set(_stand_ins(before, None)) if before else set()
    for line, said in _stand_ins(text, tree):
        if said not in {each for _, each in was}:
            raise RuleBroken("omission", f"line {line} says {said!r} where code belongs.")


def _stand_ins(text: str, tree: ast.Module | None) -> list[tuple[int, str]]:
    """Return the lines and texts of what stands for code that is not there."""
    found = []
    try:
        tree = tree or python.parse(text)
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT and LEFT_OUT.search(token.string):
                found.append((token.start[0], token.string.strip()))
    except (python.SourceInvalid, tokenize.TokenError, SyntaxError):
        return found
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and node.value.value is ...:
            found.append((node.lineno, "..."))
    return found


def refuse_commands(tree: ast.Module, before: ast.Module | None) -> None:
    """Raise RuleBroken (`runs_commands`) where a text runs commands and what was there before did not."""
    known = {name for name, _ in _commands(before)} if before else set()
    for name, line in _commands(tree):
        if name not in known:
            raise RuleBroken("runs_commands", f"line {line} uses {name}. Do without commands of the system.")


def _commands(tree: ast.Module) -> list[tuple[str, int]]:
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [(alias.name.partition(".")[0], "") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [((node.module or "").partition(".")[0], alias.name) for alias in node.names]
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            names = [(node.value.id, node.attr)]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "__import__":
            names = [(str(each.value), "") for each in node.args if isinstance(each, ast.Constant)]
        else:
            continue
        for module, member in names:
            wanted = COMMANDS.get(module, ())
            if wanted is None or member in wanted:
                found.append((f"{module}.{member}".rstrip("."), node.lineno))
    return found


def refuse_imports(tree: ast.Module, allowed: Allowed) -> None:
    """Raise RuleBroken (`package_wish`) for an import of what is not to be had, and for a relative one."""
    for name, line in lacking(tree, allowed):
        if name.startswith("."):
            raise RuleBroken("package_wish", f"line {line} imports {name}, of a package that is not here.")
        said = f"line {line} imports {name}, which is not here. Use the standard library."
        raise RuleBroken("package_wish", said)


def lacking(tree: ast.Module, allowed: Allowed) -> list[tuple[str, int]]:
    """Return the modules that are imported and not to be had, each with its line; relative ones with their dots."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            found.append(("." * node.level + (node.module or ""), node.lineno))
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names = (
                [each.name for each in node.names] if isinstance(node, ast.Import) else [node.module or ""]
            )
            found += [(name, node.lineno) for name in names if allowed.lacks(name.partition(".")[0])]
    return sorted(found, key=lambda each: each[1])
