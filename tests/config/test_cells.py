"""Cells of a CSV file: none is run as a formula, however a spreadsheet splits the line."""

from __future__ import annotations

import csv
import io

import pytest

from config.cells import csv_line, neutral

FORMULA = ("=", "+", "-", "@")


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t1", "\r1", '=HYPERLINK("http://x")'])
def test_text_that_begins_like_a_formula_gets_an_apostrophe(text):
    assert neutral(text) == f"'{text}"


@pytest.mark.parametrize("break_", [";", "\t", "\n", "\r\n", "; ", ';"', "\n \t"])
@pytest.mark.parametrize("formula", ["=1+1", "+1", "-2", "@SUM(A1)"])
def test_so_does_what_follows_a_separator_of_other_places(break_, formula):
    """Where ; or a tab parts cells a quoted cell is not taken as one, and what follows begins a cell of its own."""
    assert neutral(f"x{break_}{formula}") == f"x{break_}'{formula}"


@pytest.mark.parametrize("text", ["a, -1", "x == y; y", "f(a=1)", "a;b=c", "", "plain"])
def test_other_text_stays_as_it_is(text):
    assert neutral(text) == text


def test_numbers_and_nothing_are_no_text():
    assert [neutral(value) for value in (-1.5, None, 3)] == [-1.5, None, 3]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_no_cell_begins_like_a_formula_whatever_parts_cells(separator):
    cells = ["=1", "a;=1", "a\t=1;+1", "a\n@x;-1", '"; "=1', "b,=1"]
    line = csv_line(cells)
    read = [cell for row in csv.reader(io.StringIO(line), delimiter=separator) for cell in row]
    if separator == ",":
        assert read == [neutral(cell) for cell in cells]
    assert [cell for cell in read if cell.strip(' "').startswith(FORMULA)] == []
