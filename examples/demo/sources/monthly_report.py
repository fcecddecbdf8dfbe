"""Sales reports by month and region."""

import pandas as pd


def load(rows):
    """Return sales as a table: day (a date), region, amount."""
    table = pd.DataFrame(rows, columns=["day", "region", "amount"])
    table["day"] = pd.to_datetime(table["day"])
    return table


class Report:
    """A report over a table of sales."""

    def __init__(self, sales):
        self.sales = sales

    def total(self):
        """Return the sum of all amounts."""
        return self.sales["amount"].sum()

    def by_month(self):
        """Return the amounts with a row per month and a column per region."""
        months = self.sales["day"].dt.to_period("M").rename("month")
        table = self.sales.pivot_table(
            index=months, columns="region", values="amount", aggfunc="sum", fill_value=0
        )
        every = pd.period_range(months.min(), months.max(), freq="M", name="month")
        return table.reindex(every, fill_value=0)


SALES = [
    ("2024-01-31", "north", 10),
    ("2024-01-02", "south", 5),
    ("2024-04-15", "north", 7),
    ("2024-01-20", "north", 1),
]


def test_sums():
    table = Report(load(SALES)).by_month()
    assert table.loc["2024-01", "north"] == 11
    assert table.loc["2024-01", "south"] == 5
    assert table.loc["2024-04", "south"] == 0
    assert table.to_numpy().sum() == Report(load(SALES)).total()


def test_months_without_sales_are_there():
    table = Report(load(SALES)).by_month()
    assert [str(month) for month in table.index] == ["2024-01", "2024-02", "2024-03", "2024-04"]
    assert table.loc["2024-02"].tolist() == [0, 0]
    assert list(table.columns) == ["north", "south"]


def test_over_the_turn_of_the_year():
    table = Report(load([("2023-12-31", "west", 2), ("2024-01-01", "west", 3)])).by_month()
    assert table["west"].tolist() == [2, 3]


if __name__ == "__main__":
    test_sums()
    test_months_without_sales_are_there()
    test_over_the_turn_of_the_year()
