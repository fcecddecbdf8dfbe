"""STANDALONE, without a model: cut a function and all that it needs out of its file, byte for byte; pure.

Names are followed by scope (symtable), so a local that is called like something of the module brings nothing along.
What the module changes of a kept name (`f.__doc__ = …`, `TABLE["x"] = …`) is kept too. Imports of the file's own package
are replaced by what they import, where its modules are at hand and that is plain; else the slice says what is missing.
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from examples.generation.statements import Module, Statement
from examples.languages.python import source as python

KNOWN = frozenset(dir(builtins)) | {
    "__name__",
    "__file__",
    "__doc__",
    "__package__",
    "__spec__",
    "__builtins__",
}
DEEPEST = 5  # modules of a package that pass a name on
KNOWN |= {
    "__annotations__",
    "__debug__",
    "__class__",
    "__module__",
    "__qualname__",
    "__loader__",
    "WindowsError",
}


class Home(NamedTuple):
    """Where something is defined: its module and its name there."""

    module: str
    member: str


class Unresolved(NamedTuple):
    """Something that the function needs and that cannot be had: a code, a sentence, and the line in its own file."""

    code: str
    sentence: str
    line: int


@dataclass(frozen=True)
class Slice:
    """A function with what it needs.

    source      the text; statements of the file in their order, those of other modules of its package before them
    kept        how many statements of the file are in it, of `total`
    inlined     dotted names that stand in the place of an import from the function's own package
    unresolved  what is missing; the source then does not run by itself
    """

    source: str
    kept: int
    total: int
    inlined: tuple[str, ...] = ()
    unresolved: tuple[Unresolved, ...] = ()


@dataclass
class _Cut:
    """What has been found so far: kept statements and narrowed imports by module, in order of need."""

    modules: dict[str, Module]
    kept: dict[str, set[int]] = field(default_factory=dict)
    imported: dict[str, dict[int, set[str]]] = field(default_factory=dict)
    aliases: dict[str, dict[int, dict[str, str]]] = field(default_factory=dict)
    inlined: dict[str, None] = field(default_factory=dict)
    leads: dict[str, dict[str, None]] = field(default_factory=dict)
    unresolved: dict[Unresolved, None] = field(default_factory=dict)
    seen: set[tuple[str, str]] = field(default_factory=set)


def slice_function(
    text: str,
    name: str,
    *,
    module: str = "",
    siblings: Mapping[str, str] | None = None,
    also: Sequence[str] = (),
) -> Slice:
    """Return what the function `name` (qualified) of a file needs, with what its tests need, `also`.

    `module` is the file's dotted name and `siblings` the texts of its package's modules. Raises python.SourceInvalid and
    python.FunctionNotFound.
    """
    own = _taken_apart(text, module, is_package=_is_package(siblings or {}, module))
    python.find(own.tree, name)
    cut = _Cut({module: own})
    texts = {each: source for each, source in (siblings or {}).items() if each != module}
    _need(cut, texts, module, name.partition(".")[0], 0)
    for each in also:
        _need(cut, texts, module, each, 0)
    order = _ordered(cut, module, {})
    _refuse_clashes(cut, order)
    return Slice(
        source=_written(cut, order),
        kept=len(cut.kept.get(module, ())) + len(cut.imported.get(module, ())),
        total=len(own.statements),
        inlined=tuple(cut.inlined),
        unresolved=tuple(sorted(cut.unresolved, key=lambda each: each.line)),
    )


def _need(cut: _Cut, texts: Mapping[str, str], module: str, name: str, line: int) -> None:
    """Keep what binds a name in a module, and what that needs in turn."""
    waiting = [(module, name, line)]
    while waiting:
        module, name, line = waiting.pop()
        if (module, name) in cut.seen:
            continue
        cut.seen.add((module, name))
        own = cut.modules[module]
        binders = own.binders.get(name) or own.global_binders.get(name, [])
        fresh = [] if binders else _unbound(cut, texts, own, name, line)
        for statement in [*binders, *own.changes.get(name, [])]:
            fresh += _keep(cut, texts, own, statement, name)
        cut.leads.setdefault(module, {}).update((each, None) for each, _, _ in fresh if each != module)
        waiting += fresh


def _ordered(cut: _Cut, module: str, seen: dict[str, None]) -> list[str]:
    """Return a module behind those whose definitions it uses; each once, also where two use one another."""
    seen[module] = None
    before = [
        name
        for other in cut.leads.get(module, ())
        if other not in seen
        for name in _ordered(cut, other, seen)
    ]
    return [*before, module]


def _keep(
    cut: _Cut, texts: Mapping[str, str], own: Module, statement: Statement, name: str
) -> list[tuple[str, str, int]]:
    """Keep a statement and return the names that it needs, each with its module."""
    if statement.is_import:
        return _import(cut, texts, own, statement, name)
    kept = cut.kept.setdefault(own.name, set())
    if statement.number in kept:
        return []
    kept.add(statement.number)
    for inner in statement.inner_imports:
        if own.is_own_package(inner) and not inner.guarded:
            shown = inner.shown
            said = f"Line {inner.line} imports {shown} inside a definition, which cannot be put in its place."
            cut.unresolved[Unresolved("inner_import", said, _line(own, cut, inner.line))] = None
    return [(own.name, each, statement.line) for each in statement.needs]


def _import(
    cut: _Cut, texts: Mapping[str, str], own: Module, statement: Statement, name: str
) -> list[tuple[str, str, int]]:
    """Keep the part of an import that binds a name, or go on to the module of the package that defines it."""
    line = _line(own, cut, statement.line)
    for alias in statement.imports:
        if alias.bound != name:
            continue
        if not own.is_own_package(alias):
            cut.imported.setdefault(own.name, {}).setdefault(statement.number, set()).add(name)
            return []
        if not alias.member:
            said = f"Line {statement.line} imports the module {alias.shown} as a whole; its functions are not in this file."
            return _lacking(cut, own, statement, name, Unresolved("module_object", said, line))
        target = own.resolve(alias)
        found = _home(cut, texts, target, alias.member)
        if not found:
            said = f"Line {statement.line} imports {alias.member} from {alias.shown}, which is not at hand."
            code = "relative_import" if alias.level else "own_package"
            return _lacking(cut, own, statement, name, Unresolved(code, said, line))
        cut.inlined[f"{found.module}.{found.member}"] = None
        if found.member != name:
            cut.aliases.setdefault(own.name, {}).setdefault(statement.number, {})[name] = found.member
        return [(found.module, found.member, statement.line)]
    return []


def _lacking(
    cut: _Cut, own: Module, statement: Statement, name: str, what: Unresolved
) -> list[tuple[str, str, int]]:
    """Note what is missing, and keep its import, which says it to whoever reads the slice."""
    cut.unresolved[what] = None
    cut.imported.setdefault(own.name, {}).setdefault(statement.number, set()).add(name)
    return []


def _unbound(
    cut: _Cut, texts: Mapping[str, str], own: Module, name: str, line: int
) -> list[tuple[str, str, int]]:
    """Return where a name that nothing binds comes from by a star import; note it as missing where from nowhere."""
    if name in KNOWN:
        return []
    for statement in own.stars:
        alias = statement.imports[0]
        if own.is_own_package(alias):
            found = _home(cut, texts, own.resolve(alias), name)
            if found:
                cut.inlined[f"{found.module}.{found.member}"] = None
                return [(found.module, found.member, line)]
    outside = [each for each in own.stars if not own.is_own_package(each.imports[0])]
    standard = [
        each for each in outside if each.imports[0].module.partition(".")[0] in sys.stdlib_module_names
    ]
    if standard:
        cut.kept.setdefault(own.name, set()).update(each.number for each in standard)
        return []
    at = _line(own, cut, line)
    user = f"the statement in line {line}" if line else "the examples"
    if own.stars:
        shown = own.stars[0].imports[0].shown
        said = f"{name}, used by {user}, may come from line {own.stars[0].line}, a star import of {shown}."
        cut.unresolved[Unresolved("star_import", said, at)] = None
    else:
        said = f"{name}, used by {user}, is bound nowhere in the file."
        cut.unresolved[Unresolved("missing_name", said, at)] = None
    return []


def _home(cut: _Cut, texts: Mapping[str, str], target: str, member: str, deep: int = 0) -> Home | None:
    """Return which module of the package defines what another one offers, None where none at hand does."""
    own = _module(cut, texts, target)
    if own is None or deep > DEEPEST:
        return None
    for statement in own.binders.get(member, []):
        inner = next((each for each in statement.imports if each.bound == member), None)
        if inner is None or not own.is_own_package(inner):
            return Home(target, member)
        return _home(cut, texts, own.resolve(inner), inner.member, deep + 1) if inner.member else None
    stars = [own.resolve(each.imports[0]) for each in own.stars if own.is_own_package(each.imports[0])]
    homes = (_home(cut, texts, star, member, deep + 1) for star in stars)
    return next((home for home in homes if home), None)


def _module(cut: _Cut, texts: Mapping[str, str], target: str) -> Module | None:
    """Return a module of the package, taken apart once; None where it is not at hand or cannot be parsed."""
    if target not in cut.modules and target in texts:
        try:
            cut.modules[target] = _taken_apart(texts[target], target, is_package=_is_package(texts, target))
        except python.SourceInvalid:
            return None
    return cut.modules.get(target) if target else None


@lru_cache(maxsize=64)
def _taken_apart(text: str, name: str, *, is_package: bool) -> Module:
    """Return a module's statements; kept for the last texts, since each of its functions is cut out of the same one."""
    return Module(text, name, is_package=is_package)


def _is_package(texts: Mapping[str, str], target: str) -> bool:
    return target != "" and any(each.startswith(f"{target}.") for each in texts)


def _line(own: Module, cut: _Cut, line: int) -> int:
    """Return a line of the function's own file, 0 for a line of another."""
    return line if own is next(iter(cut.modules.values())) else 0


def _refuse_clashes(cut: _Cut, order: Sequence[str]) -> None:
    """Note names that two modules bind to different things: side by side in one file, the later would win."""
    owners: dict[str, tuple[str, str]] = {}
    for name in order:
        own = cut.modules[name]
        for number in sorted(cut.kept.get(name, ())):
            statement = own.statements[number]
            for bound in statement.binds:
                text = own.text_of(statement)
                former = owners.setdefault(bound, (name, text))
                if former[0] != name and former[1] != text:
                    said = f"{bound} is one thing in {former[0]} and another in {name or 'the file'}."
                    cut.unresolved[Unresolved("name_clash", said, 0)] = None


def _written(cut: _Cut, order: Sequence[str]) -> str:
    """Return the text: what comes from __future__ first, then each module's kept statements in their order."""
    newline = cut.modules[order[-1]].newline
    future = sorted({each for name in order for each in cut.modules[name].future})
    head = f"from __future__ import {', '.join(future)}{newline * 2}" if future else ""
    pieces = []
    for name in order:
        own = cut.modules[name]
        block = own.written(cut.kept.get(name, set()), cut.imported.get(name, {}), cut.aliases.get(name, {}))
        if block and name != order[-1]:
            block = f"# From {name.replace('.', '/')}.py{newline}{block}"
        pieces += [block] if block else []
    return head + (newline * 2).join(pieces)
