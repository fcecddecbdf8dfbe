import traceback

from examples.assembly import Answer, assemble
from examples.masking import mask
from examples.tracebacks import error_lines, map_traceback

SOURCE = "class C:\n    def m(self):\n        return 0\n\n    def n(self):\n        return self.m()\n"


def failure(function: str, module: str = ""):
    masked = mask(SOURCE, "C.m")
    got = assemble(masked.context, masked.gap, Answer(function, module))
    try:
        namespace = {"__name__": "__main__"}
        exec(compile(got.program, "solution.py", "exec"), namespace)
        namespace["C"]().n()
    except BaseException:
        return traceback.format_exc(), got.lines
    raise AssertionError("nothing failed")


def test_frames_are_said_in_the_regions_own_lines():
    text, lines = failure(
        "import os\n\ndef m(self):\n    return boom()\n", "\ndef boom():\n    return 1 / 0\n"
    )
    said = map_traceback(text, lines)
    assert "  context, line 6, in n\n" in said
    assert "  your solution, line 4, in m\n" in said
    assert "  imports and helpers, line 3, in boom\n" in said
    assert "solution.py" not in said
    assert error_lines(text, lines) == [("module", 3, "ZeroDivisionError: division by zero")]


def test_a_syntax_error_is_marked_at_the_editors_line():
    text, lines = failure("def m(self):\n    x = 1\n    return 1 +\n")
    assert "your solution, line 3\n" in map_traceback(text, lines)
    assert error_lines(text, lines) == [("function", 3, "SyntaxError: invalid syntax")]


def test_an_error_that_only_the_context_shows_marks_nothing():
    masked = mask(SOURCE, "C.m")
    lines = assemble(masked.context, masked.gap, Answer("def m(self): return 1")).lines
    assert error_lines('Traceback:\n  File "solution.py", line 1, in x\nValueError: no\n', lines) == []


def test_chained_exceptions_are_marked_each():
    text, lines = failure(
        "def m(self):\n    try:\n        1 / 0\n    except ZeroDivisionError:\n        raise KeyError(1)\n"
    )
    assert [(mark.line, mark.message.partition(":")[0]) for mark in error_lines(text, lines)] == [
        (3, "ZeroDivisionError"),
        (5, "KeyError"),
    ]


def test_a_place_inside_a_message_is_said_too_and_other_files_stay():
    _, lines = failure("def m(self):\n    return 1 +\n")
    assert (
        map_traceback("invalid syntax (solution.py, line 3)", lines)
        == "invalid syntax (your solution, line 2)"
    )
    assert (
        map_traceback('File "/usr/lib/python3/json.py", line 3', lines)
        == 'File "/usr/lib/python3/json.py", line 3'
    )
    assert map_traceback('File "solution.py", line 9999', lines).startswith("context, line")


def test_a_printed_line_number_of_any_length_is_no_error():
    """Python refuses to read more than 4,300 digits; a page that shows a run must not fail on what the run printed."""
    _, lines = failure("def m(self):\n    return 1 / 0\n")
    for text in (f'File "solution.py", line {"1" * 5000}', f"(solution.py, line {'1' * 5000})"):
        assert isinstance(map_traceback(text, lines), str)
        assert isinstance(error_lines(f"Traceback\n  {text}\nValueError: x", lines), list)
