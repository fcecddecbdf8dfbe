"""What pid 1 of a box is made of: modules of ours that it takes from the host, since the box has nothing but `python3`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
SOURCE, CODE = b"s", b"c"
# Begins pid 1. What it executes comes as the first frame: as text, which it compiles and sends back, or as that code,
# which costs a sixteenth of the time. On the command line the engine would read and write all of it, several times a box.
# Our modules have built-in functions of their own: a program that replaces some does not replace ours.
LOADER = """
import builtins, marshal, os, sys, types
def heard(count):
    data = b""
    while len(data) < count:
        piece = os.read(0, count - len(data))
        if not piece:
            os._exit(0)
        data += piece
    return data
body = heard(int.from_bytes(heard(4), "big"))
if body[:1] == b"s":
    import json
    pieces = [(name, compile(text, "<" + name + ">", "exec")) for name, text in json.loads(body[1:])]
    body = b"c" + marshal.dumps(pieces)
    told = memoryview(len(body).to_bytes(4, "big") + body)
    while told:
        told = told[os.write(1, told):]
else:
    pieces = marshal.loads(body[1:])
body = b""
for name, code in pieces:
    module = sys.modules[name] = types.ModuleType(name)
    module.__builtins__ = dict(builtins.__dict__)
    exec(code, module.__dict__)
os._exit(0)
"""
# `-I` is not used: it would ignore PYTHONHASHSEED.
COMMAND = ("python3", "-P", "-s", "-B", "-c", LOADER)


class Piece(NamedTuple):
    """A module: its name and its text."""

    name: str
    text: str


@dataclass(frozen=True)
class PidOne:
    """The modules that pid 1 executes in turn; the last one serves, and never ends."""

    pieces: tuple[Piece, ...]

    @classmethod
    def of(cls, modules: Sequence[str], *, before: str = "", serve: str) -> PidOne:
        """Return our modules by name, with statements before them and those that serve after them."""
        ours = [Piece(name, (ROOT / (name.replace(".", "/") + ".py")).read_text()) for name in modules]
        return cls((Piece("before", before), *ours, Piece("serve", serve)))

    @cached_property
    def source(self) -> bytes:
        """Return the frame that brings the texts."""
        return SOURCE + json.dumps(self.pieces).encode()

    @cached_property
    def digest(self) -> str:
        """Return the sha256 of the texts."""
        return sha256(self.source).hexdigest()
