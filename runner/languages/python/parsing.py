"""Parses Python safely from several threads.

CPython 3.11 counts the depth of a syntax tree under construction for the whole interpreter, not for each thread. Two
threads that parse at once can therefore meet `SystemError: AST constructor recursion depth mismatch`, though nothing
is wrong with either text. Seen here once in 164 runs on a busy machine; others met it in threaded services
(https://github.com/malthe/chameleon/issues/361).
"""

from __future__ import annotations

import ast
import threading
import time

TRIES = 50
PAUSE_SECONDS = 0.002

_one_at_a_time = threading.Lock()


def parse(source: str, filename: str = "<unknown>") -> ast.Module:
    """Return the syntax tree of a text, as `ast.parse` does. Raises SyntaxError, ValueError, RecursionError, as it does.

    The lock keeps our own threads apart; the tries are for whoever else parses at the same moment.
    """
    for _ in range(TRIES - 1):
        try:
            with _one_at_a_time:
                return ast.parse(source, filename)
        except SystemError:
            time.sleep(PAUSE_SECONDS)
    with _one_at_a_time:
        return ast.parse(source, filename)
