"""Code: one element per line, all of it, escaped; marks and numbers where they belong."""

from __future__ import annotations

import html as markup
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from config.parts.code import HIGHLIGHT_LIMIT, code, diff, highlighted_lines, line_range, plain_lines

SOURCE = 'import os\ndef f(x):\n    """one\n    two <b>"""\n\nprint(1)\n'


def lines_of(html: str) -> list[tuple[str, str, str]]:
    """Return class, number and plain text of every line."""
    found = re.findall(
        r'<span(?: id="[^"]*")? class="l([^"]*)" data-n="([^"]*)">(.*?)</span>(?=<span[^>]* class="l|</code>)',
        html,
        re.S,
    )
    return [
        (mark.strip(), number, markup.unescape(re.sub(r"<[^>]+>", "", text))) for mark, number, text in found
    ]


def test_every_line_is_one_element_with_its_number_and_text() -> None:
    assert lines_of(code(SOURCE)) == [
        ("", str(number), line) for number, line in enumerate(SOURCE.splitlines(), 1)
    ]


def test_numbers_start_anywhere() -> None:
    assert [number for _, number, _ in lines_of(code("a\nb\n", start=20))] == ["20", "21"]


def test_a_string_over_two_lines_is_coloured_on_both_and_closed_on_each() -> None:
    lines = highlighted_lines(SOURCE)
    assert lines[2].count("<span") == lines[2].count("</span>") == 1
    assert 'class="sd"' in lines[2]
    assert 'class="sd"' in lines[3]


def test_markup_in_code_is_escaped() -> None:
    assert "<script>" not in code("x = '<script>alert(1)</script>' # </span></code>")


def test_an_override_in_code_is_shown_and_acts_no_more() -> None:
    html = code("access = 'user\u202e \u2066# admin'")
    assert "\u202e" not in html
    assert "U+202E" in html


def test_the_hole_stands_after_its_line_and_takes_the_numbers_of_the_body() -> None:
    marked = lines_of(code("a\nb\nc\n", start=19, focal="19-20", hole=20, hole_lines=18))
    assert marked == [
        ("foc", "19", "a"),
        ("foc", "20", "b"),
        ("hole", "21", "your function body goes here"),
        ("", "39", "c"),
    ]


def test_a_hole_may_come_first() -> None:
    assert [mark for mark, _, _ in lines_of(code("a\n", hole=0))] == ["hole", ""]


def test_only_the_first_focal_line_carries_the_anchor() -> None:
    assert code("a\nb\n", focal="1-2", anchor="focal").count('id="focal"') == 1


def test_hits_are_marked() -> None:
    assert lines_of(code("a\nb\n", hits=2))[1][0] == "hit"


@pytest.mark.parametrize(
    ("span", "numbers"),
    [("20-22", [20, 21, 22]), ("20", [20]), (20, [20]), ((20, 21), [20, 21]), (None, []), ("", [])],
)
def test_a_range_is_written_in_any_way(span: object, numbers: list[int]) -> None:
    assert list(line_range(span)) == numbers


def test_an_unknown_language_and_a_huge_text_are_shown_plain() -> None:
    assert '<span class="k">' not in code("def f(): pass", "no such language")
    assert '<span class="k">' not in code("def f(): pass\n" + "#" * HIGHLIGHT_LIMIT)


def test_the_region_is_named_and_can_be_focused() -> None:
    assert code("a", label='Context "x"').startswith(
        '<div class="code" tabindex="0" role="region" aria-label="Context &quot;x&quot;">'
    )


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=120))
def test_lines_keep_their_number_and_text_whatever_the_code(text: str) -> None:
    shown = [
        markup.unescape(re.sub(r"<[^>]+>", "", re.sub(r'<span class="ctl">[^<]*</span>', "", line)))
        for line in highlighted_lines(text)
    ]
    kept = [re.sub(r'<span class="ctl">[^<]*</span>', "", line) for line in plain_lines(text)]
    assert len(shown) == len(kept)


def test_a_difference_shows_added_and_removed_with_hidden_words() -> None:
    html = diff("a\nb\nc\n", "a\nB\nc\n")
    assert re.sub(r"<[^>]+>", "|", html).count("removed: ") == 1
    assert '<span class="l del"><span class="vh">removed: </span>b</span>' in html
    assert '<span class="l add"><span class="vh">added: </span>B</span>' in html


def test_equal_texts_and_texts_that_differ_in_line_ends_say_so() -> None:
    assert "No difference" in diff("a\n", "a\n")
    assert "Only line ends differ" in diff("a\n", "a\r\n")


def test_a_difference_keeps_to_its_lines_when_code_holds_odd_line_separators() -> None:
    html = diff("a = '\x0c\u2028'\nb\n", "a = '\x0c\u2028'\nc\n")
    assert '<span class="vh">removed: </span>b' in html
    assert '<span class="vh">added: </span>c' in html


def test_a_difference_is_escaped() -> None:
    assert "<script>" not in diff("a\n", "<script>\n")
