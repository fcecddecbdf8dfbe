"""Numbers of releases: semantic, never used twice, always growing."""

from __future__ import annotations

import pytest

from examples.releasing.numbering import NumberRefused, must_grow, next_numbers, parse_number


@pytest.mark.parametrize("text", ["1", "1.0", "01.0.0", "1.0.0-rc1", "v1.0.0", "1.0.0 ", "١.0.0", ""])
def test_what_is_no_semantic_version_is_refused(text):
    with pytest.raises(NumberRefused):
        parse_number(text)


def test_a_number_is_never_used_again_and_always_grows():
    must_grow("1.10.0", ["1.9.0", "0.1.0"])
    must_grow("0.0.1", [])
    for text in ("1.9.0", "1.8.9", "0.9.9"):
        with pytest.raises(NumberRefused, match=r"1\.9\.0 is published"):
            must_grow(text, ["1.9.0", "0.1.0"])


def test_the_next_numbers_follow_the_highest():
    assert next_numbers(["1.9.3", "1.10.0"]) == ("2.0.0", "1.11.0", "1.10.1")
    assert next_numbers([]) == ("1.0.0", "0.1.0", "0.0.1")
