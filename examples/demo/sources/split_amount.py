"""Money is counted in whole cents, so that nothing is lost to rounding."""

from fractions import Fraction


def as_text(cents):
    """Return cents as an amount: 1999 is '19.99'."""
    sign = "-" if cents < 0 else ""
    return f"{sign}{abs(cents) // 100}.{abs(cents) % 100:02d}"


def check_weights(weights):
    """Raise ValueError for weights that cannot share anything."""
    if any(weight < 0 for weight in weights):
        raise ValueError("weights must not be negative")
    if not sum(weights):
        raise ValueError("at least one weight must be positive")


def split_amount(cents, weights):
    """Return whole-cent shares of an amount, in proportion to the weights."""
    check_weights(weights)
    total = sum(weights)
    exact = [Fraction(cents) * weight / total for weight in weights]
    shares = [share.numerator // share.denominator for share in exact]
    by_remainder = sorted(range(len(weights)), key=lambda n: (shares[n] - exact[n], n))
    for n in by_remainder[: cents - sum(shares)]:
        shares[n] += 1
    return shares


def test_split_amount():
    assert split_amount(900, [1, 1, 1]) == [300, 300, 300]
    assert split_amount(1000, [1, 1, 1]) == [334, 333, 333]
    assert split_amount(1001, [1, 1, 1]) == [334, 334, 333]
    assert split_amount(100, [50, 30, 20]) == [50, 30, 20]
    assert split_amount(101, [50, 30, 20]) == [51, 30, 20]
    assert split_amount(5, [0, 3, 3]) == [0, 3, 2]
    assert split_amount(0, [2, 5]) == [0, 0]
    assert split_amount(10, [1, 0]) == [10, 0]
    assert sum(split_amount(10**15 + 7, [3, 7, 11, 13])) == 10**15 + 7
    try:
        shares = split_amount(100, [0, 0])
    except ValueError:
        shares = "refused"
    assert shares == "refused"


if __name__ == "__main__":
    test_split_amount()
