"""STUDY: when an open study will be done if work goes on as of late; pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from scipy.stats import chi2

from annotation.study.intervals import CONFIDENCE

WINDOW = timedelta(days=7)
SHORTEST = timedelta(hours=1)  # a rate over less would promise the moon
FARTHEST = timedelta(days=3650)


@dataclass(frozen=True, slots=True)
class Forecast:
    """When the last place will be closed: ``finish`` at the rate of late, ``earliest`` to ``latest`` at its 95 % interval.

    Moments are None where they lie beyond ten years or there is no rate; ``reason`` then says why. ``closed`` attempts
    were counted over ``days``, ``remaining`` places are not closed yet.
    """

    remaining: int
    closed: int
    days: float
    finish: datetime | None = None
    earliest: datetime | None = None
    latest: datetime | None = None
    reason: str = ""

    @property
    def per_day(self) -> float:
        """Return the closed attempts a day."""
        return self.closed / self.days

    @property
    def span(self) -> str:
        """Return over how long attempts were counted, in words: "7 days", "3 hours"."""
        amount, unit = (self.days, "day") if self.days >= 1 else (self.days * 24, "hour")
        return f"{amount:.0f} {unit}{'' if round(amount) == 1 else 's'}"


def forecast(
    closed_at: Iterable[datetime], *, remaining: int, opened_at: datetime, now: datetime
) -> Forecast:
    """Return when ``remaining`` places will be closed, from the attempts closed in the last seven days.

    Attempts are taken to close as a Poisson process: with c of them in d days, the rate's exact 95 % interval is
    chi2(0.025; 2c) / 2d to chi2(0.975; 2c + 2) / 2d (Garwood 1936). Less than a week after the opening the days since
    count, at least one hour.
    """
    span = min(max(now - opened_at, SHORTEST), WINDOW)
    days = span / timedelta(days=1)
    closed = sum(now - span <= moment <= now for moment in closed_at)
    if not remaining:
        return Forecast(0, closed, days, reason="every place is closed")
    if not closed:
        return Forecast(remaining, 0, days, reason="no attempt was closed in that time")
    tail = (1 - CONFIDENCE) / 2
    slow = float(chi2.ppf(tail, 2 * closed)) / (2 * days)
    fast = float(chi2.ppf(1 - tail, 2 * closed + 2)) / (2 * days)
    return Forecast(
        remaining,
        closed,
        days,
        finish=_after(now, remaining, closed / days),
        earliest=_after(now, remaining, fast),
        latest=_after(now, remaining, slow),
    )


def _after(now: datetime, remaining: int, per_day: float) -> datetime | None:
    days = remaining / per_day
    return now + timedelta(days=days) if days <= FARTHEST.days else None
