"""The forecast of a study's end."""

from datetime import UTC, datetime, timedelta

import pytest

from annotation.study.forecast import FARTHEST, forecast

NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)
OPENED = NOW - timedelta(days=30)


def days_before(*days: float) -> list[datetime]:
    return [NOW - timedelta(days=each) for each in days]


def test_at_two_a_day_twenty_places_take_ten_days():
    found = forecast(days_before(*(at / 2 for at in range(14))), remaining=20, opened_at=OPENED, now=NOW)
    assert (found.closed, found.per_day) == (14, 2)
    assert found.finish == NOW + timedelta(days=10)
    assert found.earliest < found.finish < found.latest
    # Garwood's exact 95 % interval of 14 events is 7.654 to 23.490
    assert (found.latest - NOW) / timedelta(days=1) == pytest.approx(20 / (7.654 / 7), abs=0.01)
    assert (found.earliest - NOW) / timedelta(days=1) == pytest.approx(20 / (23.490 / 7), abs=0.01)


def test_only_the_last_week_counts_and_a_young_study_since_its_opening():
    old = days_before(8, 9, 10)
    assert forecast([*old, *days_before(1)], remaining=5, opened_at=OPENED, now=NOW).closed == 1
    young = forecast(days_before(0.5, 1), remaining=6, opened_at=NOW - timedelta(days=2), now=NOW)
    assert (young.span, young.finish) == ("2 days", NOW + timedelta(days=6))


def test_without_a_rate_there_is_no_forecast_but_a_reason():
    nothing = forecast([], remaining=5, opened_at=OPENED, now=NOW)
    assert (nothing.finish, nothing.latest) == (None, None)
    assert "no attempt was closed" in nothing.reason
    assert forecast(days_before(1), remaining=0, opened_at=OPENED, now=NOW).reason == "every place is closed"


def test_what_lies_beyond_ten_years_has_no_date():
    found = forecast(days_before(1), remaining=FARTHEST.days, opened_at=OPENED, now=NOW)
    assert found.finish is None
    assert found.reason == ""


def test_an_hour_after_the_opening_is_not_taken_for_a_second():
    found = forecast([NOW], remaining=24, opened_at=NOW, now=NOW)
    assert (found.span, found.finish) == ("1 hour", NOW + timedelta(days=1))
