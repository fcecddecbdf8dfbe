"""ASSEMBLE: say where an error is in the words of the person who wrote the answer, not of the program that ran; pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from examples.assembly import Origin
from examples.languages.python.answers import Mark

PROGRAM = "solution.py"
WORDS = {"function": "your solution", "module": "imports and helpers", "context": "context"}
FRAME = re.compile(r'File "([^"\n]+)", line (\d{1,9})\b')
INLINE = re.compile(r"\(([^()\n]+), line (\d{1,9})\)")
LAST_LINE = re.compile(
    r"^(?![ \t]|Traceback |During handling|The above exception|[ \t]*\|)\S.*$", re.MULTILINE
)


def map_traceback(text: str, lines: Sequence[Origin], *, program: str = PROGRAM) -> str:
    """Return a traceback or message with `File "solution.py", line 12` said as `your solution, line 3`."""

    def said(match: re.Match[str]) -> str:
        place = _place(match, lines, program)
        return match[0] if place is None else f"{WORDS[place.region]}, line {place.line}"

    text = FRAME.sub(said, text)
    return INLINE.sub(lambda match: f"({said(match)})" if _place(match, lines, program) else match[0], text)


def error_lines(text: str, lines: Sequence[Origin], *, program: str = PROGRAM) -> list[Mark]:
    """Return the places in the answer that a traceback points at: for each exception in it, the deepest one."""
    marks: list[Mark] = []
    at = 0
    for message in LAST_LINE.finditer(text):
        frames = [
            place
            for each in FRAME.finditer(text, at, message.start())
            if (place := _place(each, lines, program))
        ]
        own = [place for place in frames if place.region != "context"]
        if own:
            marks.append(
                Mark(own[-1].region, own[-1].line, map_traceback(message[0], lines, program=program))
            )
        at = message.end()
    return list(dict.fromkeys(marks))


def _place(match: re.Match[str], lines: Sequence[Origin], program: str) -> Origin | None:
    number = int(match[2])
    if match[1].rpartition("/")[2] != program or not lines:
        return None
    return lines[min(max(number, 1), len(lines)) - 1]  # a syntax error may point one line behind the end
