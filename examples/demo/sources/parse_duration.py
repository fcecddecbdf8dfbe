"""Durations as people write them in timetables and recipes."""

import re

UNITS = {"d": 86400, "h": 3600, "m": 60, "s": 1}
ORDER = "dhms"
PART = re.compile(r"(\d+)\s*([dhms])")


def format_duration(seconds):
    """Return seconds as text with the largest units first: 5400 is '1h 30m'."""
    parts = []
    for unit in ORDER:
        count, seconds = divmod(seconds, UNITS[unit])
        if count:
            parts.append(f"{count}{unit}")
    return " ".join(parts) or "0s"


def parse_duration(text):
    """Return how many seconds a text such as '1h 30m' means."""
    rest = text.strip().lower()
    if rest.isdigit():
        return int(rest)
    seconds = 0
    used = -1
    at = 0
    while at < len(rest):
        match = PART.match(rest, at)
        if not match or ORDER.index(match[2]) <= used:
            raise ValueError(f"not a duration: {text!r}")
        used = ORDER.index(match[2])
        seconds += int(match[1]) * UNITS[match[2]]
        at = match.end()
        while at < len(rest) and rest[at].isspace():
            at += 1
    if used < 0:
        raise ValueError(f"not a duration: {text!r}")
    return seconds


def is_refused(text):
    try:
        parse_duration(text)
    except ValueError:
        return True
    return False


def test_units():
    assert parse_duration("90s") == 90
    assert parse_duration("1h 30m") == 5400
    assert parse_duration("2d4h") == 187200
    assert parse_duration("  1H 5 S ") == 3605


def test_bare_numbers_are_seconds():
    assert parse_duration("45") == 45
    assert parse_duration("0") == 0


def test_what_is_no_duration():
    assert is_refused("")
    assert is_refused("   ")
    assert is_refused("soon")
    assert is_refused("30m 1h")
    assert is_refused("1h 2h")
    assert is_refused("1h 30")
    assert is_refused("-5m")


def test_there_and_back():
    for seconds in (0, 59, 60, 3661, 86399, 900000):
        assert parse_duration(format_duration(seconds)) == seconds


if __name__ == "__main__":
    test_units()
    test_bare_numbers_are_seconds()
    test_what_is_no_duration()
    test_there_and_back()
