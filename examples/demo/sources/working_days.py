"""Working days: weekends and public holidays are free."""

from datetime import date, timedelta

SATURDAY = 5


class WorkCalendar:
    """A calendar that knows its country's public holidays."""

    def __init__(self, holidays=()):
        self.holidays = set(holidays)

    def is_working_day(self, day):
        """Return whether people work on `day`."""
        return day.weekday() < SATURDAY and day not in self.holidays

    def working_days_between(self, start, end):
        """Return how many working days lie in [start, end)."""
        days = (end - start).days
        return sum(self.is_working_day(start + timedelta(days=n)) for n in range(days))

    def add_working_days(self, start, count):
        """Return the working day that lies `count` working days after `start`."""
        step = timedelta(days=1 if count >= 0 else -1)
        day = start
        if count == 0:
            while not self.is_working_day(day):
                day += step
            return day
        left = abs(count)
        while left:
            day += step
            if self.is_working_day(day):
                left -= 1
        return day


MAY = WorkCalendar([date(2024, 5, 1), date(2024, 5, 9)])


def test_forward():
    assert MAY.add_working_days(date(2024, 5, 6), 1) == date(2024, 5, 7)
    assert MAY.add_working_days(date(2024, 5, 3), 1) == date(2024, 5, 6)
    assert MAY.add_working_days(date(2024, 4, 30), 1) == date(2024, 5, 2)
    assert MAY.add_working_days(date(2024, 5, 8), 2) == date(2024, 5, 13)


def test_backward():
    assert MAY.add_working_days(date(2024, 5, 10), -1) == date(2024, 5, 8)
    assert MAY.add_working_days(date(2024, 5, 6), -2) == date(2024, 5, 2)


def test_zero_and_free_starts():
    assert MAY.add_working_days(date(2024, 5, 7), 0) == date(2024, 5, 7)
    assert MAY.add_working_days(date(2024, 5, 4), 0) == date(2024, 5, 6)
    assert MAY.add_working_days(date(2024, 5, 9), 0) == date(2024, 5, 10)
    assert MAY.add_working_days(date(2024, 5, 4), 1) == date(2024, 5, 6)


if __name__ == "__main__":
    test_forward()
    test_backward()
    test_zero_and_free_starts()
