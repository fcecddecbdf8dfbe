"""WRITE TESTS, without a model: turn the doctest examples of a function into one test function with assertions; pure.

Statements and state between the examples of a docstring are kept, in their order (https://docs.python.org/3/library/doctest.html).
What is expected becomes an assertion: a literal is compared as a value, any other text as text of `repr`, what is printed
as printed text, an exception by its type and message. Nothing is believed: the tests are executed against the reference.
"""

from __future__ import annotations

import ast
import doctest
import io
import re
import textwrap
import tokenize
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from examples.generation.statements import globals_read
from runner.languages.python.parsing import parse

INDENT = "    "
PRINTS = {"print", "pprint"}
REPR = re.compile(r"[<\[({'\"]|b['\"]|[A-Za-z_][\w.]*\(|-?[\d.]+[\w.]*$")
LOOSE = (ast.Compare, ast.BoolOp, ast.IfExp, ast.Lambda, ast.NamedExpr, ast.Await, ast.Tuple, ast.UnaryOp)


class DoctestsInvalid(ValueError):
    """The docstring's examples cannot become tests; the message says which and why."""


class OwnImport(NamedTuple):
    """An import in an example of something that the function's own file has or may have: `from toolz import curry as c`."""

    module: str
    member: str
    bound: str


@dataclass(frozen=True)
class Tests:
    """What became of a docstring's examples.

    source      one test function, ended by a line break
    name        its name
    assertions  how many assertions it has
    examples    how many examples are in it; `passed_over` those that the docstring itself says not to run
    needs       names that the examples take from the module of the function
    imports     what the examples import from the function's own package; left out of `source`
    """

    source: str
    name: str
    assertions: int
    examples: int
    passed_over: int
    needs: tuple[str, ...]
    imports: tuple[OwnImport, ...]

    __test__ = False  # pytest: not a test, in spite of its name


def has_examples(docstring: str) -> bool:
    """Return whether a docstring holds doctest examples, well formed or not."""
    return re.search(r"^[ \t]*>>>(?: |$)", docstring, re.MULTILINE) is not None


def convert_examples(docstring: str, *, name: str, package: str = "") -> Tests:
    """Return the examples of a docstring as a test function called `name`.

    `package` is the top package of the function's file, whose imports are left to the file. Raises DoctestsInvalid,
    also where nothing is asserted.
    """
    try:
        examples = doctest.DocTestParser().get_examples(docstring)
    except ValueError as error:
        raise DoctestsInvalid(f"The docstring's examples are malformed: {error}.") from error
    wanted = [each for each in examples if not each.options.get(doctest.SKIP)]
    writer = _Writer(package, {word for each in examples for word in re.findall(r"\w+", each.source)})
    for each in wanted:
        writer.add(each)
    if not writer.assertions:
        if not wanted and examples:
            raise DoctestsInvalid(
                f"The docstring says that none of its {len(examples)} examples is to be run."
            )
        raise DoctestsInvalid(f"None of the docstring's {len(wanted)} examples says what comes out.")
    body = "".join(textwrap.indent(line, INDENT) if line else "" for line in writer.head()) + "".join(
        writer.body
    )
    source = f"def {name}():\n{body}"
    try:
        tree = parse(source)
        compile(source, "<doctests>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        raise DoctestsInvalid(
            f"The docstring's examples are no code that can stand in a function: {error}."
        ) from error
    needs = [each for each in globals_read(tree) if each != name]
    return Tests(
        source,
        name,
        writer.assertions,
        len(wanted),
        len(examples) - len(wanted),
        tuple(dict.fromkeys(needs)),
        tuple(writer.imports),
    )


class _Writer:
    """Writes one example after the other into the body of a test function."""

    def __init__(self, package: str, taken: set[str]) -> None:
        self.package = package
        self.printed = _free("printed", taken)
        self.raised = _free("raised", taken)
        self.value = _free("value", taken)
        self.body: list[str] = []
        self.imports: list[OwnImport] = []
        self.modules: set[str] = set()
        self.assertions = 0

    def head(self) -> list[str]:
        """Return the imports that the assertions need."""
        return [f"import {module}\n" for module in sorted(self.modules)]

    def add(self, example: doctest.Example) -> None:
        """Write one example: what runs, and what is asserted of it."""
        tree = self._parsed(example)
        self._take_own_imports(tree)
        if not tree.body:
            return
        options = {flag for flag, on in example.options.items() if on}
        text = _without_directives(example.source)
        if example.exc_msg is not None:
            self._raises(tree, text, example.exc_msg, options)
        elif not example.want:
            self._lines(_statements(tree, text))
        elif len(tree.body) == 1 and isinstance(tree.body[0], ast.Expr) and not _prints(tree.body[0].value):
            self._shows(tree.body[0].value, text, example.want, options)
        else:
            self._outputs(_statements(tree, text), example.want, options)

    def _parsed(self, example: doctest.Example) -> ast.Module:
        try:
            tree = parse(example.source)
        except (SyntaxError, ValueError, RecursionError) as error:
            raise DoctestsInvalid(
                f"The example in line {example.lineno + 1} of the docstring is not Python 3: {error}."
            ) from error
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and any(each.name == "*" for each in node.names):
                raise DoctestsInvalid(
                    f"The example in line {example.lineno + 1} of the docstring imports * from {node.module}."
                )
        return tree

    def _take_own_imports(self, tree: ast.Module) -> None:
        """Take imports from the function's own package out of an example: its file is where the tests run."""
        for node in list(tree.body):
            if not isinstance(node, ast.ImportFrom) or node.level or not self.package:
                continue
            if (node.module or "").partition(".")[0] != self.package:
                continue
            for each in node.names:
                bound = each.asname or each.name
                self.imports.append(OwnImport(node.module or "", each.name, bound))
                if bound != each.name:
                    self._lines([f"{bound} = {each.name}"])
            tree.body.remove(node)

    def _shows(self, value: ast.expr, text: str, want: str, options: set[int]) -> None:
        """Write an expression whose value is shown."""
        told = _segment(value, text)
        literal = _literal(want)
        if literal is not None:
            self._assert(_compared(told, literal))
        elif "\n" not in want.strip() and REPR.match(want):
            self._assert(self._text_matches(f"repr({told})", want.rstrip("\n"), options))
        else:
            show = [
                f"{self.value} = {told}",
                f"if {self.value} is not None:\n{INDENT}print(repr({self.value}))",
            ]
            self._outputs(show, want, options)

    def _outputs(self, statements: Sequence[str], want: str, options: set[int]) -> None:
        """Write statements whose output is expected."""
        self.modules |= {"contextlib", "io"}
        self._lines([f"{self.printed} = io.StringIO()", f"with contextlib.redirect_stdout({self.printed}):"])
        self._lines(statements, deeper=1)
        text = re.sub(r"(?m)^<BLANKLINE>$", "", want)
        self._assert(self._text_matches(f"{self.printed}.getvalue()", text, options))

    def _raises(self, tree: ast.Module, text: str, told: str, options: set[int]) -> None:
        """Write statements that are expected to raise."""
        kind, _, message = told.rstrip("\n").partition(":")
        kind, message = kind.strip().rpartition(".")[2], message.removeprefix(" ")
        self._lines([f"{self.raised} = None", "try:"])
        self._lines(_statements(tree, text), deeper=1)
        self._lines([f"except Exception as error:\n{INDENT}{self.raised} = error"])
        shown = f"type({self.raised}).__name__"
        if doctest.IGNORE_EXCEPTION_DETAIL in options:
            self._assert(f"{shown} == {kind!r}")
        elif doctest.ELLIPSIS in options and "..." in message:
            self._assert(f"{shown} == {kind!r}")
            self._assert(self._text_matches(f"str({self.raised})", message, options))
        else:
            self._assert(f"[{shown}, str({self.raised})] == {[kind, message]!r}")

    def _text_matches(self, told: str, want: str, options: set[int]) -> str:
        """Return the condition that a text is the expected one, as far as the example's options ask."""
        if doctest.NORMALIZE_WHITESPACE in options:
            told, want = f'" ".join({told}.split())', " ".join(want.split())
        if doctest.ELLIPSIS in options and "..." in want:
            self.modules.add("re")
            pattern = ".*".join(re.escape(part) for part in want.split("..."))
            return f"re.fullmatch({pattern!r}, {told}, re.DOTALL)"
        return f"{told} == {want!r}"

    def _assert(self, condition: str) -> None:
        self.assertions += 1
        self._lines([f"assert {condition}"])

    def _lines(self, statements: Sequence[str], deeper: int = 0) -> None:
        self.body += [_indented(each, INDENT * (1 + deeper)) + "\n" for each in statements]


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    return name


def _literal(want: str) -> str | None:
    """Return the literal that a value is shown as, None for other text; its layout is not the value's."""
    text = want.strip()
    if text == "..." or not text:
        return None
    try:
        value = ast.literal_eval(text)
        shown = repr(value)
        if ast.literal_eval(shown) != value:
            return None
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None
    return text if "\n" not in text else shown


def _compared(told: str, literal: str) -> str:
    if literal in ("True", "False", "None"):
        return f"{told} is {literal}"
    return f"{told} == {literal}"


def _prints(value: ast.expr) -> bool:
    """Return whether an expression is a call of print: what it shows is output, not a value."""
    if not isinstance(value, ast.Call):
        return False
    function = value.func
    return (function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")) in PRINTS


def _segment(value: ast.expr, text: str) -> str:
    """Return an expression's own text, in brackets where something may follow it only then."""
    told = ast.get_source_segment(text, value) or ast.unparse(value)
    if isinstance(value, LOOSE) and not (told.startswith("(") and told.endswith(")")):
        return f"({told})"
    return told


def _statements(tree: ast.Module, text: str) -> list[str]:
    """Return the statements' texts, comments behind them apart."""
    return [ast.get_source_segment(text, node) or ast.unparse(node) for node in _whole(tree)]


def _whole(tree: ast.Module) -> list[ast.stmt]:
    """Return the statements; a decorated one as a copy that starts at its first decorator."""
    whole = []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and node.decorator_list:
            node.lineno, node.col_offset = node.decorator_list[0].lineno, 0
        whole.append(node)
    return whole


def _indented(statement: str, indent: str) -> str:
    """Return a statement moved to the right; one with a string over several lines is written anew."""
    if "\n" in statement and _has_long_string(statement):
        statement = ast.unparse(parse(statement))
    return textwrap.indent(statement, indent)


def _has_long_string(text: str) -> bool:
    try:
        nodes = list(ast.walk(parse(text)))
    except SyntaxError:
        return False
    kinds = (ast.Constant, ast.JoinedStr)
    return any(
        isinstance(node, kinds)
        and not (isinstance(node, ast.Constant) and not isinstance(node.value, str | bytes))
        and node.end_lineno != node.lineno
        for node in nodes
    )


def _without_directives(source: str) -> str:
    """Return an example's source without comments that are options for doctest; every other character stays."""
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
    except (tokenize.TokenError, IndentationError):
        return source
    lines = source.splitlines(keepends=True)
    for token in tokens:
        if token.type == tokenize.COMMENT and re.match(r"#\s*doctest:", token.string):
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column].rstrip() + "\n"
    return "".join(lines)
