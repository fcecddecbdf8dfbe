"""The texts that run in the box, by the names their code goes under, and what a traceback says about them."""

from __future__ import annotations

import linecache
import traceback
from types import TracebackType

PROGRAM_FILE = "solution.py"
TESTS_FILE = "tests.py"
BLOCK_FILE = "block.py"
ERROR_CHARS = 3000
OURS_TO_SHOW = (PROGRAM_FILE, TESTS_FILE, BLOCK_FILE)


def remember(filename: str, text: str) -> None:
    """Let tracebacks and `inspect` show the lines of a text that is in no file."""
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)


def told(error: BaseException) -> str:
    """Return the traceback of an exception without our own frames."""
    try:
        trace = error.__traceback__
        while trace is not None and trace.tb_frame.f_code.co_filename not in OURS_TO_SHOW:
            trace = trace.tb_next
        return "".join(traceback.format_exception(type(error), error, trace))
    except BaseException:
        return "An exception that cannot be shown.\n"


def line_of(trace: TracebackType | None, file: str) -> int | None:
    """Return the innermost line of a file in a traceback."""
    line = None
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == file:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def bounded(text: str) -> str:
    """Return the text, its middle left out when it is long."""
    half = ERROR_CHARS // 2
    return text if len(text) <= ERROR_CHARS else f"{text[:half]}\n[...]\n{text[-half:]}"
