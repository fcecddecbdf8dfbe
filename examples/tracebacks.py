"""ASSEMBLE: say where an error is in the words of the person who wrote the answer, not of the program that ran; pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from examples.assembly import Origin
from examples.languages.python.answers import Mark

# What the program is called in what interpreters and compilers say; `solution.py` in Python's tracebacks.
PROGRAMS = ("solution.py", "solution.js", "solution.cpp")
WORDS = {"function": "your solution", "module": "imports and helpers", "context": "context"}
FRAME = re.compile(r'File "([^"\n]+)", line (\d{1,9})\b')
INLINE = re.compile(r"\(([^()\n]+), line (\d{1,9})\)")
BRACED = re.compile(r"\b(solution\.(?:js|cpp)):(\d{1,9})(?::\d{1,9})?")
COMPILED = re.compile(r"^(solution\.cpp):(\d{1,9}):\d{1,9}: (?:fatal )?error: (.*)$", re.MULTILINE)
THROWN = re.compile(r"^[\w$.]*(?:Error|thrown)\b.*$", re.MULTILINE)
LAST_LINE = re.compile(
    r"^(?![ \t]|Traceback |During handling|The above exception|[ \t]*\|)\S.*$", re.MULTILINE
)


def map_traceback(text: str, lines: Sequence[Origin]) -> str:
    """Return a traceback or message with `File "solution.py", line 12` said as `your solution, line 3`.

    And so with `solution.js:12:5` of node and `solution.cpp:12:5` of g++.
    """

    def said(match: re.Match[str]) -> str:
        place = _place(match, lines)
        return match[0] if place is None else f"{WORDS[place.region]}, line {place.line}"

    text = BRACED.sub(said, FRAME.sub(said, text))
    return INLINE.sub(lambda match: f"({said(match)})" if _place(match, lines) else match[0], text)


def error_lines(text: str, lines: Sequence[Origin]) -> list[Mark]:
    """Return the places in the answer that a traceback points at: for each exception in it, the deepest one."""
    marks: list[Mark] = _braced(text, lines)
    at = 0
    for message in LAST_LINE.finditer(text):
        frames = [
            place for each in FRAME.finditer(text, at, message.start()) if (place := _place(each, lines))
        ]
        own = [place for place in frames if place.region != "context"]
        if own:
            marks.append(Mark(own[-1].region, own[-1].line, map_traceback(message[0], lines)))
        at = message.end()
    return list(dict.fromkeys(marks))


def _braced(text: str, lines: Sequence[Origin]) -> list[Mark]:
    """Return each error of g++ at its line, and each of node at its first own frame, or at the line it could not read."""
    marks = [(place, each[3]) for each in COMPILED.finditer(text) if (place := _place(each, lines))]
    thrown = list(THROWN.finditer(text)) if "solution.js:" in text else []
    for number, message in enumerate(thrown):
        before = thrown[number - 1].end() if number else 0
        after = thrown[number + 1].start() if number + 1 < len(thrown) else len(text)
        frames = [
            *BRACED.finditer(text, message.end(), after),
            *BRACED.finditer(text, before, message.start()),
        ]
        places = [place for each in frames if (place := _place(each, lines)) and place.region != "context"]
        marks += [(place, message[0]) for place in places[:1]]
    return [Mark(place.region, place.line, said) for place, said in marks if place.region != "context"]


def _place(match: re.Match[str], lines: Sequence[Origin]) -> Origin | None:
    number = int(match[2])
    if match[1].rpartition("/")[2] not in PROGRAMS or not lines:
        return None
    return lines[min(max(number, 1), len(lines)) - 1]  # a syntax error may point one line behind the end
