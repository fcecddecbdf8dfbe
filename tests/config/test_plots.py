"""Plots: no bare percentage, undefined is said, no mark leaves its drawing."""

from __future__ import annotations

import re

import pytest

from config.parts import plots


def plain(html: str) -> str:
    return re.sub(r"<[^>]+>", "", html)


def test_a_share_names_count_total_share_and_interval() -> None:
    assert plain(plots.share(13, 16, 57.0, 93.4)) == "13 of 16, 81 % (57 to 93)"


def test_a_share_without_interval_says_so() -> None:
    assert plain(plots.share(2, 2)) == "2 of 2, 100 %, interval undefined"
    assert plain(plots.share(2, 2, 34, None)) == "2 of 2, 100 %, interval undefined"


def test_a_share_of_nothing_is_undefined_and_shows_no_percentage() -> None:
    assert plain(plots.share(0, 0)) == "0 of 0, undefined"


def test_a_fraction_becomes_a_position_and_undefined_stays_undefined() -> None:
    assert plots.percent(0.8125) == pytest.approx(81.25)
    assert plots.percent(None) is None


def test_a_meter_is_a_picture_with_words() -> None:
    html = plots.meter('5 of 16 "done"', 5, 16)
    assert 'role="img" aria-label="5 of 16 &quot;done&quot;"' in html
    assert 'width="31.25%"' in html


def test_parts_of_a_meter_follow_each_other_and_never_leave_it() -> None:
    html = plots.meter("parts", [("ok", 60), ("bad", 30), ("none", 30)])
    assert re.findall(r'x="([\d.]+)%" width="([\d.]+)%"', html) == [
        ("0.00", "60.00"),
        ("60.00", "30.00"),
        ("90.00", "10.00"),
    ]


def test_a_meter_of_nothing_is_empty() -> None:
    assert 'width="0.00%"' in plots.meter("0 of 0", 0, 0)


def test_a_forest_row_draws_the_outer_interval_thin_and_the_inner_thick() -> None:
    html = plots.forest_row(
        "<b>", 84, 76, 89, n="104 of 124", outer_low=73, outer_high=94, more="cluster 73 to 94"
    )
    assert '<line class="iv" x1="73.0%" x2="94.0%"' in html
    assert '<line class="iv2" x1="76.0%" x2="89.0%"' in html
    assert "&lt;b&gt;" in html
    assert "84 % (76 to 89)" in plain(html)
    assert "104 of 124" in plain(html)


def test_a_forest_row_without_point_draws_no_mark_and_reads_undefined() -> None:
    html = plots.forest_row("nobody yet", None, n="0 of 0")
    assert "circle" not in html
    assert "undefined" in html


def test_a_mark_beyond_the_scale_is_held_at_its_end() -> None:
    assert 'cx="100.0%"' in plots.forest_row("late", 140, words="140 ms")


def test_the_axis_names_its_unit_at_both_ends_and_scales_to_its_end() -> None:
    html = plots.axis("0 10 20 40", "ms", 40)
    assert re.findall(r'x="([\d.]+)%" y="14">([^<]+)<', html) == [
        ("0.0", "0 ms"),
        ("25.0", "10"),
        ("50.0", "20"),
        ("100.0", "40 ms"),
    ]
