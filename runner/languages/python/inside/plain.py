"""Writes a value as text that two equal values share, by exact built-in types. Standard library only.

The text is `kind form`. Two values of built-in types are equal in Python exactly when their forms are: 1, 1.0 and True
share one, a list and a tuple never do. Nothing of the value's own code is asked: types come from `type()`, bases from
`type.__mro__`, contents through the built-in type's own methods. An object that says it equals everything therefore has
no form: it is `opaque`.

What has a form, in this order:
1. None, bool, int, float, complex, str, bytes, bytearray, list, tuple, set, frozenset, dict, and the keys of a dict.
2. A value whose class inherits from one of these and takes `__eq__` from it: its built-in value (namedtuple, IntEnum,
   defaultdict); Counter and OrderedDict, which compare with plain dicts as dicts do; Decimal and Fraction by their value.
3. A numpy scalar of a width Python has (float64, complex128, integers, bool, str, bytes): its Python value.
4. A class that takes `__eq__` from `object`, a range, a deque, a date, `len`: equal to no literal, and its form is none's.
Anything else is opaque, and so is what holds it: only its own `__eq__` could say.
"""

from __future__ import annotations

import sys
from _blake2 import blake2s
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Iterable
from datetime import MAXYEAR, date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

FORM_CHARS = 400  # a row with it, every character escaped, is still one row
NODES = 200_000
CHARS = 4_000_000
DEPTH = 60
DECOYS = 8
INT_BITS = 1 << 18
NOTHING = "?"  # the form of what equals no literal

_mro = type.__dict__["__mro__"].__get__
_members = type.__dict__["__dict__"].__get__
_name = type.__dict__["__name__"].__get__
_real, _imaginary = complex.__dict__["real"].__get__, complex.__dict__["imag"].__get__
_keys = type(dict[object, object]().keys())
_infinite = float("inf")
_NUMPY = {"bool", "bool_", "str_", "bytes_", "float64", "complex128", "longlong", "ulonglong"} | {
    f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)
}


class Opaque(Exception):
    """The value, or something in it, compares by code of its own."""


class TooLarge(Exception):
    """The value is larger or deeper than any literal that is compared this way, so it equals none."""


def written(value: object) -> str:
    """Return `kind form` of a value, `opaque kind` where it has no form; a long form is replaced by its digest."""
    kind = kind_of(type(value))
    try:
        return f"{kind} {short(form_of(value))}"
    except TooLarge:
        return f"{kind} {NOTHING}"
    except BaseException:  # a hostile container may fail in ways of its own
        return f"opaque {kind}"


def kind_of(kind: type) -> str:
    """Return the name of a class: `int` for the built-in type only, `numpy.int64` for numpy's, `~int` for any other."""
    name = str(_name(kind))[:60].replace(" ", "_")
    if id(kind) in _WRITERS:
        return name
    return f"numpy.{name}" if _is_numpy(kind) else f"~{name}"


def form_of(value: object) -> str:
    """Return the form of a value. Raises Opaque or TooLarge."""
    return _Writer().form(value, 0)


def short(form: str) -> str:
    """Return the form, or its digest and length where it is long or not ASCII."""
    if len(form) <= FORM_CHARS and form.isascii():
        return form
    return f"#{blake2s(form.encode('utf-8', 'surrogatepass')).hexdigest()} {len(form)}"


def hint(form: str, key: str, bits: int) -> int:
    """Return a few bits of the form's digest under a key; equal forms have equal ones."""
    digest = blake2s(form.encode("utf-8", "surrogatepass"), key=key.encode(), digest_size=1).digest()
    return digest[0] & (1 << bits) - 1


class _Writer:
    """Counts what it has written, so that the work is bounded."""

    def __init__(self) -> None:
        self.nodes = self.chars = 0

    def form(self, value: object, depth: int) -> str:
        """Return the form. Raises Opaque or TooLarge."""
        self.nodes += 1
        if self.nodes > NODES or depth > DEPTH:
            raise TooLarge
        write = _writer_of(type(value))
        if write is None:
            return self.form(_python_value(value), depth)
        if not isinstance(write, _Container):
            text = write(value)
            self.chars += len(text)
            if self.chars > CHARS:
                raise TooLarge
            return text
        inner = [self.form(item, depth + 1) for item in write.contents(value)]
        if write.opening == "<":
            inner = [f"{key}={item}" for key, item in zip(inner[::2], inner[1::2], strict=True)]
        return write.opening + ",".join(inner if write.ordered else sorted(inner)) + write.closing


class _Container(NamedTuple):
    """How a container is written: its brackets, and how its contents are reached without its own code."""

    opening: str
    closing: str
    contents: Callable[[Any], Iterable[object]]
    ordered: bool


def _writer_of(kind: type) -> Callable[[Any], str] | _Container | None:
    """Return how values are written whose class takes `__eq__` from a known type, None where it has its own.

    Types are looked up by identity: a metaclass may have an `__eq__` and a `__hash__` too. Raises Opaque.
    """
    for owner in _mro(kind):
        write = _WRITERS.get(id(owner))
        if write is not None:
            return write
        if "__eq__" in _members(owner):
            return None
    raise Opaque


def _python_value(value: object) -> object:
    """Return a numpy scalar as Python's. Raises Opaque for anything else."""
    if not _is_numpy(type(value)):
        raise Opaque
    return sys.modules["numpy"].generic.item(value)


def _is_numpy(kind: type) -> bool:
    numpy = getattr(sys.modules.get("numpy"), "__dict__", {})
    return any(kind is numpy.get(name) for name in _NUMPY)


def _nothing(_: object) -> str:
    return NOTHING


def _none(_: object) -> str:
    return "N"


def _ratio(over: int, under: int) -> str:
    if max(over.bit_length(), under.bit_length()) > INT_BITS:
        raise TooLarge
    return f"n{over:x}" if under == 1 else f"n{over:x}/{under:x}"


def _int(value: int) -> str:
    return _ratio(int.__index__(value), 1)


def _float(value: float) -> str:
    plain = float.__float__(value)
    if plain != plain:
        return NOTHING
    if plain in (_infinite, -_infinite):
        return "n+inf" if plain > 0 else "n-inf"
    return _ratio(*plain.as_integer_ratio())


def _complex(value: complex) -> str:
    real, imaginary = _float(_real(value)), _float(_imaginary(value))
    return real if imaginary == "n0" else f"c{real},{imaginary}"


def _decimal(value: Decimal) -> str:
    if not Decimal.is_finite(value):
        return NOTHING if Decimal.is_nan(value) else "n-inf" if Decimal.is_signed(value) else "n+inf"
    if abs(Decimal.adjusted(value)) > INT_BITS // 4:
        raise TooLarge
    return _ratio(*Decimal.as_integer_ratio(value))


def _fraction(value: Fraction) -> str:
    return _ratio(*Fraction.as_integer_ratio(value))


def _str(value: str) -> str:
    return f"s{str.__len__(value)}:{str.__str__(value)}"


def _bytes(value: bytes) -> str:
    return f"b{bytes.hex(value)}"


def _bytearray(value: bytearray) -> str:
    return f"b{bytearray.hex(value)}"


def _pairs(value: dict[object, object]) -> Iterable[object]:
    for key, item in dict.items(value):
        yield key
        yield item


_MAPPING = _Container("<", ">", _pairs, ordered=False)
_KINDS: list[tuple[type, Callable[[Any], str] | _Container]] = [
    (type(None), _none),
    *((kind, _int) for kind in (bool, int)),
    (float, _float),
    (complex, _complex),
    (Decimal, _decimal),
    (Fraction, _fraction),
    (str, _str),
    (bytes, _bytes),
    (bytearray, _bytearray),
    (list, _Container("[", "]", list.__iter__, ordered=True)),
    (tuple, _Container("(", ")", tuple.__iter__, ordered=True)),
    (set, _Container("{", "}", set.__iter__, ordered=False)),
    (frozenset, _Container("{", "}", frozenset.__iter__, ordered=False)),
    (_keys, _Container("{", "}", _keys.__iter__, ordered=False)),
    *((kind, _MAPPING) for kind in (dict, OrderedDict, Counter)),
    *((kind, _nothing) for kind in (object, range, deque, date, datetime, time, timedelta, type(len))),
]
_WRITERS = {id(kind): write for kind, write in _KINDS}


def decoys(value: object) -> list[object]:
    """Return up to `DECOYS` values that differ from a plain value in one place each: what equals both equals too much."""
    leaves = _leaves(value)
    chosen = leaves[:: max(1, len(leaves) // DECOYS)][:DECOYS]
    return [_with(value, path, _other(leaf)) for path, leaf in chosen] or [_longer(value)]


def _leaves(value: object, path: tuple[Any, ...] = ()) -> list[tuple[tuple[Any, ...], object]]:
    """Return the values in a literal that are no list, tuple or dict, each with the keys that lead to it."""
    if isinstance(value, dict):
        return [leaf for key, item in value.items() for leaf in _leaves(item, (*path, key))]
    if isinstance(value, (list, tuple)):
        return [leaf for key, item in enumerate(value) for leaf in _leaves(item, (*path, key))]
    return [(path, value)]


def _with(value: Any, path: tuple[Any, ...], leaf: object) -> object:
    """Return the literal with another value at the end of the path."""
    if not path:
        return leaf
    if isinstance(value, dict):
        return {key: _with(item, path[1:], leaf) if key is path[0] else item for key, item in value.items()}
    items = [_with(item, path[1:], leaf) if at == path[0] else item for at, item in enumerate(value)]
    return tuple(items) if isinstance(value, tuple) else items


def _other(leaf: object) -> object:
    """Return a value of the same type that is not equal."""
    if isinstance(leaf, bool):
        return not leaf
    if isinstance(leaf, int):
        return leaf + 1
    if isinstance(leaf, complex):
        return leaf + 1 if leaf + 1 != leaf else 1j
    if isinstance(leaf, float):
        return leaf + 1 if leaf + 1 != leaf else 1.5
    if isinstance(leaf, str):
        return leaf + "~"
    if isinstance(leaf, bytes):
        return leaf + b"~"
    if isinstance(leaf, date):
        return leaf + timedelta(days=1) if leaf.year < MAXYEAR else leaf - timedelta(days=1)
    return _longer(leaf) if leaf is not None else 0


def _longer(value: object) -> object:
    """Return a set or an empty container with something more in it."""
    if isinstance(value, (set, frozenset)):
        return {*value, "~"}
    if isinstance(value, dict):
        return {**value, "~": 0}
    return (*value, "~") if isinstance(value, tuple) else [*value, "~"] if isinstance(value, list) else "~"
