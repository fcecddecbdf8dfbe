"""Foreign text is inert: sequences are gone, hidden characters are shown, markup is escaped."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from config.parts.text import inert, named, visible, without_sequences


@pytest.mark.parametrize(
    ("printed", "left"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b[38;5;196mred\x1b[m", "red"),
        ("\x1b]0;a new window title\x07text", "text"),
        ("\x1b]8;;http://evil.example\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bP1$r0m\x1b\\text", "text"),
        ("\x9b2Jtext", "text"),
        ("\x1bctext", "text"),
        ("\x1b]52;c;unfinished\nthe next line stays", "\nthe next line stays"),
        ("one\r\ntwo", "one\ntwo"),
    ],
)
def test_a_terminal_sequence_leaves_only_its_text(printed: str, left: str) -> None:
    assert without_sequences(printed) == left


@pytest.mark.parametrize(
    "character",
    [
        "\x00",
        "\x07",
        "\x08",
        "\r",
        "\x7f",
        "\x85",
        "\u200b",
        "\u202e",
        "\u2066",
        "\u2028",
        "\ufeff",
        "\U000e0041",
    ],
)
def test_a_hidden_character_is_shown_and_gone(character: str) -> None:
    html = visible(f"a{character}b")
    assert character not in html
    assert '<span class="ctl">' in html


def test_a_lone_surrogate_can_be_sent_in_a_response() -> None:
    assert inert("a\ud800b").encode() == b'<bdi class="inert">a<span class="ctl">U+D800</span>b</bdi>'


def test_tab_newline_letters_of_all_scripts_and_emoji_stay() -> None:
    text = "a\tb\nŽluťoučký שלום 日本語 🙂"
    assert visible(text) == text


def test_markup_in_output_is_escaped_inside_an_isolated_run() -> None:
    html = inert("<script>alert(1)</script>")
    assert html == '<bdi class="inert">&lt;script&gt;alert(1)&lt;/script&gt;</bdi>'


def test_nothing_at_all_is_an_empty_run() -> None:
    assert inert(None) == '<bdi class="inert"></bdi>'


def test_plain_text_gets_names_in_brackets() -> None:
    assert named("a\u202eb") == "a[U+202E]b"


@given(st.text(st.characters(), max_size=200))
def test_no_text_whatever_yields_markup_escape_or_hidden_character(text: str) -> None:
    html = str(inert(text))
    rest = re.sub(r'<span class="ctl">(?:U\+[0-9A-F]{4,6}|.)</span>|^<bdi class="inert">|</bdi>$', "", html)
    assert "<" not in rest
    assert ">" not in rest
    assert "\x1b" not in html
    assert html.encode()


def test_a_hundred_thousand_unfinished_sequences_take_no_quadratic_time() -> None:
    begun = time.monotonic()
    without_sequences("\x1b]" * 100_000)
    assert time.monotonic() - begun < 10
