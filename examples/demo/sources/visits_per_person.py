"""Visits to a web site, made out of single page views."""

import pandas as pd

COLUMNS = ["person", "at"]


def read_views(rows):
    """Return page views as a table with the columns person and at, in no particular order."""
    views = pd.DataFrame(rows, columns=COLUMNS)
    views["at"] = pd.to_datetime(views["at"])
    return views


def busiest_hour(views):
    """Return the hour of the day, 0 to 23, with the most views."""
    return int(views["at"].dt.hour.value_counts().idxmax())


def visits_per_person(views, gap_minutes=30):
    """Return how many visits each person made."""
    ordered = views.sort_values(["person", "at"])
    pause = ordered.groupby("person")["at"].diff()
    starts = pause.isna() | (pause > pd.Timedelta(minutes=gap_minutes))
    visits = starts.groupby(ordered["person"]).sum().astype(int)
    return visits.sort_index()


ROWS = [
    ("ben", "2024-03-01 09:20"),
    ("ann", "2024-03-01 09:00"),
    ("ann", "2024-03-01 11:00"),
    ("ann", "2024-03-01 09:30"),
    ("ben", "2024-03-02 09:20"),
    ("ann", "2024-03-01 10:00"),
]


def test_a_pause_longer_than_the_gap_starts_a_visit():
    views = read_views(ROWS)
    assert visits_per_person(views).to_dict() == {"ann": 2, "ben": 2}
    assert visits_per_person(views, gap_minutes=29).to_dict() == {"ann": 4, "ben": 2}
    assert visits_per_person(views, gap_minutes=24 * 60).to_dict() == {"ann": 1, "ben": 1}


def test_shape_of_the_answer():
    visits = visits_per_person(read_views(ROWS))
    assert list(visits.index) == ["ann", "ben"]
    assert visits.dtype.kind == "i"
    assert visits_per_person(read_views([])).empty


def test_the_table_given_is_left_alone():
    views = read_views(ROWS)
    before = views.copy()
    visits_per_person(views)
    assert views.equals(before)


if __name__ == "__main__":
    test_a_pause_longer_than_the_gap_starts_a_visit()
    test_shape_of_the_answer()
    test_the_table_given_is_left_alone()
