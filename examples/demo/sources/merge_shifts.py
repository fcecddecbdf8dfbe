"""Rosters: who is on duty when. Times are minutes since midnight."""

from typing import NamedTuple


class Shift(NamedTuple):
    """A stretch of duty, its end not included."""

    start: int
    end: int


def clock(minutes):
    """Return minutes as people write them: 570 is '09:30'."""
    return f"{minutes // 60:02d}:{minutes % 60:02d}"


def describe(shifts):
    """Return shifts as text, such as '09:00-12:30, 13:00-17:00'."""
    return ", ".join(f"{clock(shift.start)}-{clock(shift.end)}" for shift in shifts)


def merge_shifts(shifts, pause=0):
    """Return the shifts in order, those that touch or overlap made one."""
    merged = []
    for start, end in sorted(shifts):
        if end <= start:
            raise ValueError(f"a shift must end after it starts: {start}, {end}")
        if merged and start - merged[-1].end <= pause:
            merged[-1] = Shift(merged[-1].start, max(merged[-1].end, end))
        else:
            merged.append(Shift(start, end))
    return merged


def test_apart_and_together():
    assert merge_shifts([]) == []
    assert merge_shifts([Shift(540, 600), Shift(660, 720)]) == [(540, 600), (660, 720)]
    assert merge_shifts([Shift(660, 720), Shift(540, 670)]) == [(540, 720)]
    assert merge_shifts([Shift(540, 600), Shift(600, 660)]) == [(540, 660)]


def test_one_inside_another_and_short_pauses():
    assert merge_shifts([Shift(480, 960), Shift(540, 600), Shift(700, 720)]) == [(480, 960)]
    assert merge_shifts([Shift(540, 600), Shift(615, 660)], pause=15) == [(540, 660)]
    assert merge_shifts([Shift(540, 600), Shift(616, 660)], pause=15) == [(540, 600), (616, 660)]
    assert describe(merge_shifts([Shift(540, 600), Shift(570, 750)])) == "09:00-12:30"


def test_impossible_shifts_and_the_input_stays():
    given = [Shift(660, 720), Shift(540, 600)]
    merge_shifts(given)
    assert given == [Shift(660, 720), Shift(540, 600)]
    for wrong in (Shift(600, 600), Shift(600, 540)):
        try:
            result = merge_shifts([wrong])
        except ValueError:
            result = "refused"
        assert result == "refused"


if __name__ == "__main__":
    test_apart_and_together()
    test_one_inside_another_and_short_pauses()
    test_impossible_shifts_and_the_input_stays()
