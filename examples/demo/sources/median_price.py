"""Prices of flats, as they are summed up in a market report."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Flat:
    """A flat that was sold: its size in square metres and its price."""

    district: str
    size: float
    price: int

    @property
    def price_per_metre(self):
        """The price of one square metre."""
        return self.price / self.size


class Market:
    """All flats sold in a year."""

    def __init__(self, flats):
        self.flats = list(flats)

    def districts(self):
        """Return the names of the districts, sorted."""
        return sorted({flat.district for flat in self.flats})

    def prices(self, district):
        """Return the prices in a district, in no particular order."""
        return [flat.price for flat in self.flats if flat.district == district]

    def median_price(self, district):
        """Return the median of the prices in a district, or None where nothing was sold."""
        prices = sorted(self.prices(district))
        if not prices:
            return None
        return prices[(len(prices) - 1) // 2]


def market():
    prices = {"harbour": [300, 100, 200], "hill": [400, 100, 250, 350], "mill": [500]}
    return Market(Flat(name, 50.0, price) for name, each in prices.items() for price in each)


def test_odd_counts():
    assert market().median_price("harbour") == 200
    assert market().median_price("mill") == 500
    assert market().median_price("nowhere") is None


def test_even_counts():
    assert market().median_price("hill") == 250
    assert Market([Flat("a", 40, 10), Flat("a", 40, 20)]).median_price("a") == 10


if __name__ == "__main__":
    test_odd_counts()
    test_even_counts()
