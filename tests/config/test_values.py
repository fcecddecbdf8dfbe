"""Values in words, and Markdown that carries nothing but text."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from config.parts.values import clock, markdown, moment, size, took, version


@pytest.mark.parametrize(
    ("seconds", "shown"), [(0, "0:00"), (1142, "19:02"), (3723.9, "1:02:03"), (None, "\u2013")]
)
def test_clock_time(seconds: float | None, shown: str) -> None:
    assert clock(seconds) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0, "< 0.1 ms"),
        (0.00002, "< 0.1 ms"),
        (0.00005, "0.1 ms"),
        (0.0004, "0.4 ms"),
        (0.031, "31 ms"),
        (2.44, "2.4 s"),
        (192, "3 min 12 s"),
        (None, "\u2013"),
    ],
)
def test_a_duration_has_its_own_scale(seconds: float | None, shown: str) -> None:
    assert took(seconds) == shown


@pytest.mark.parametrize(
    ("count", "shown"),
    [
        (0, "0 B"),
        (312, "312 B"),
        (391_200, "391 kB"),
        (1_240_000, "1.2 MB"),
        (999_900, "1.0 MB"),
        (125_000_000, "125 MB"),
        (3_100_000_000, "3.1 GB"),
    ],
)
def test_a_size_is_in_powers_of_a_thousand(count: int, shown: str) -> None:
    assert size(count) == shown


def test_a_moment_is_said_in_utc_wherever_it_came_from() -> None:
    berlin = datetime(2026, 11, 29, 15, 3, 22, tzinfo=timezone(timedelta(hours=1)))
    assert (
        moment(berlin, seconds=True) == '<time datetime="2026-11-29T14:03:22Z">29 Nov 2026, 14:03:22</time>'
    )
    assert (
        moment(datetime(2026, 1, 2, 3, 4, tzinfo=UTC))
        == '<time datetime="2026-01-02T03:04:00Z">2 Jan 2026, 03:04</time>'
    )


def test_a_day_has_no_hour_and_no_moment_is_a_dash() -> None:
    assert moment(date(2026, 11, 29)) == '<time datetime="2026-11-29">29 Nov 2026</time>'
    assert moment(None) == "\u2013"


def test_the_version_is_the_projects() -> None:
    assert version()[0].isdigit()


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "![x](http://elsewhere.example/x.png)",
        "a <b onclick='x()'>b</b>",
        "<!-- <style>*{}</style> -->",
    ],
)
def test_markdown_passes_no_html_and_no_image(text: str) -> None:
    html = markdown(text)
    for forbidden in ("<script", "<img", "<b ", "<style", "<!--"):
        assert forbidden not in html


@pytest.mark.parametrize(
    "address",
    [
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        "data:text/html,<script>",
        "vbscript:x",
        "&#106;avascript:alert(1)",
    ],
)
def test_markdown_links_lead_nowhere_that_runs(address: str) -> None:
    assert "href" not in markdown(f"[x]({address})")


def test_markdown_links_give_no_credit_and_no_way_back() -> None:
    assert 'rel="nofollow noopener noreferrer"' in markdown("[x](https://example.org)")


def test_markdown_headings_stand_below_the_pages_own() -> None:
    assert markdown("# One\n\n##### Five") == "<h3>One</h3>\n<h6>Five</h6>\n"


def test_markdown_code_is_highlighted_and_escaped() -> None:
    html = markdown("```python\ndef f(): '<b>'\n```")
    assert '<span class="k">def</span>' in html
    assert "<b>" not in html


def test_a_fence_cannot_leave_its_block_by_its_language() -> None:
    assert "<script>" not in markdown('```"><script>\nx\n```')


def test_markdown_names_hidden_characters() -> None:
    assert "\u202e" not in markdown("a \u202e b")


def test_no_markdown_is_nothing() -> None:
    assert markdown(None) == ""


def test_markdown_is_parsed_once_for_all_who_look_at_it() -> None:
    """A table of few characters has many cells: every view of a hostile instruction would hold up a page's thread."""
    text = "|a" * 50 + "\n" + "|-" * 50 + "\n" + "|\n" * 50
    assert markdown(text) is markdown("".join(list(text)))
