"""Smoothing the readings of a sensor; a reading that is missing is nan."""

import numpy as np


def as_series(values):
    """Return readings as floats, None as nan."""
    return np.array([np.nan if value is None else value for value in values], dtype=float)


def spread(series):
    """Return the distance between the largest and the smallest reading."""
    return float(np.nanmax(series) - np.nanmin(series))


def moving_average(series, window):
    """Return the mean of each reading and those around it."""
    if window < 1 or window % 2 == 0:
        raise ValueError("the window must be odd and positive")
    half = window // 2
    present = ~np.isnan(series)
    sums = np.concatenate([[0.0], np.cumsum(np.where(present, series, 0.0))])
    counts = np.concatenate([[0], np.cumsum(present)])
    first = np.maximum(np.arange(len(series)) - half, 0)
    last = np.minimum(np.arange(len(series)) + half + 1, len(series))
    count = counts[last] - counts[first]
    with np.errstate(invalid="ignore"):
        return np.where(count > 0, (sums[last] - sums[first]) / np.maximum(count, 1), np.nan)


def test_plain_readings():
    assert moving_average(as_series([1, 2, 3, 4, 5]), 1).tolist() == [1, 2, 3, 4, 5]
    assert moving_average(as_series([1, 2, 3, 4, 5]), 3).tolist() == [1.5, 2, 3, 4, 4.5]
    assert moving_average(as_series([6, 0, 3]), 5).tolist() == [3, 3, 3]
    assert moving_average(as_series([]), 3).tolist() == []


def test_missing_readings_are_left_out():
    assert moving_average(as_series([1, None, 3]), 3).tolist() == [1, 2, 3]
    result = moving_average(as_series([None, None, 8]), 3)
    assert np.isnan(result[0])
    assert result[1:].tolist() == [8, 8]


def test_windows_that_have_no_middle():
    for window in (0, 2, -3):
        try:
            result = moving_average(as_series([1, 2, 3]), window)
        except ValueError:
            result = "refused"
        assert str(result) == "refused"


if __name__ == "__main__":
    test_plain_readings()
    test_missing_readings_are_left_out()
    test_windows_that_have_no_middle()
