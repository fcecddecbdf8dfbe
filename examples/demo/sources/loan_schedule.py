"""A loan that is paid back in equal monthly instalments."""

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

CENT = Decimal("0.01")


def to_cents(amount):
    """Return the amount rounded to whole cents, half a cent up."""
    return amount.quantize(CENT, rounding=ROUND_HALF_UP)


@dataclass(frozen=True)
class Payment:
    """One month: what is paid, how much of it is interest, and what is still owed."""

    amount: Decimal
    interest: Decimal
    owed: Decimal


class Loan:
    """A loan with a yearly rate in per cent and a fixed instalment."""

    def __init__(self, principal, yearly_rate, instalment):
        self.principal = Decimal(principal)
        self.monthly_rate = Decimal(yearly_rate) / 1200
        self.instalment = Decimal(instalment)

    def schedule(self):
        """Return the payments, month by month, until nothing is owed."""
        owed = self.principal
        payments = []
        while owed > 0:
            interest = to_cents(owed * self.monthly_rate)
            if self.instalment <= interest:
                raise ValueError("the instalment does not cover the interest")
            amount = min(self.instalment, owed + interest)
            owed += interest - amount
            payments.append(Payment(amount, interest, owed))
        return payments


def test_without_interest():
    payments = Loan("250", "0", "100").schedule()
    assert [payment.amount for payment in payments] == [Decimal(100), Decimal(100), Decimal(50)]
    assert [payment.owed for payment in payments] == [Decimal(150), Decimal(50), Decimal(0)]
    assert Loan("0", "5", "10").schedule() == []


def test_with_interest():
    payments = Loan("1000", "12", "400").schedule()
    assert payments[0] == Payment(Decimal("400"), Decimal("10.00"), Decimal("610.00"))
    assert payments[1] == Payment(Decimal("400"), Decimal("6.10"), Decimal("216.10"))
    assert payments[2] == Payment(Decimal("218.26"), Decimal("2.16"), Decimal("0.00"))
    assert len(payments) == 3


def test_an_instalment_that_is_too_small():
    try:
        payments = Loan("1000", "12", "10").schedule()
    except ValueError:
        payments = "refused"
    assert payments == "refused"
    assert len(Loan("1000", "12", "10.01").schedule()) > 100


if __name__ == "__main__":
    test_without_interest()
    test_with_interest()
    test_an_instalment_that_is_too_small()
