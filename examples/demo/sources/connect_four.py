"""Connect Four: two players drop discs, four in a line win."""

WIDTH, HEIGHT = 7, 6
EMPTY = "."


class ColumnFull(Exception):
    """No disc fits into this column any more."""


class Board:
    """Columns of discs, the lowest disc first."""

    def __init__(self):
        self.columns = [[] for _ in range(WIDTH)]

    def drop(self, player, column):
        """Let a disc of `player` fall into a column, counted from 0."""
        if len(self.columns[column]) == HEIGHT:
            raise ColumnFull(column)
        self.columns[column].append(player)

    def at(self, column, row):
        """Return the player whose disc lies there, EMPTY for none and for places off the board."""
        if 0 <= column < WIDTH and 0 <= row < len(self.columns[column]):
            return self.columns[column][row]
        return EMPTY

    def __str__(self):
        return "\n".join(
            "".join(self.at(column, row) for column in range(WIDTH)) for row in reversed(range(HEIGHT))
        )

    def winner(self):
        """Return the player with four discs in a line, or None."""
        for column in range(WIDTH):
            for row in range(HEIGHT):
                player = self.at(column, row)
                if player == EMPTY:
                    continue
                for right, up in ((1, 0), (0, 1), (1, 1), (1, -1)):
                    if all(self.at(column + n * right, row + n * up) == player for n in range(1, 4)):
                        return player
        return None


def played(moves):
    """Return the board after moves such as '0011': x begins, then o and x in turn."""
    board = Board()
    for number, column in enumerate(moves):
        board.drop("xo"[number % 2], int(column))
    return board


def test_nobody_yet():
    assert played("").winner() is None
    assert played("010101").winner() is None
    assert played("0123456").winner() is None


def test_straight_lines():
    assert played("0101010").winner() == "x"
    assert played("0011223").winner() == "x"
    assert played("6655443").winner() == "x"
    assert played("10203050").winner() == "o"
    assert played("001122").winner() is None


def test_diagonals():
    assert played("01122323363").winner() == "x"
    assert played("65544343303").winner() == "x"
    assert played("0112232336").winner() is None


if __name__ == "__main__":
    test_nobody_yet()
    test_straight_lines()
    test_diagonals()
