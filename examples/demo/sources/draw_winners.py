"""A raffle: tickets go in, winners come out."""

import secrets

RANDOM = secrets.SystemRandom()


class Raffle:
    """Tickets by name; a person may hold several."""

    def __init__(self):
        self.tickets = []

    def sell(self, name, count=1):
        """Put `count` tickets of a person into the drum."""
        self.tickets.extend([name] * count)

    def chance(self, name):
        """Return the probability that the first ticket drawn is this person's."""
        return self.tickets.count(name) / len(self.tickets) if self.tickets else 0.0

    def draw_winners(self, prizes):
        """Return who wins the prizes, in the order in which they are drawn."""
        drum = list(self.tickets)
        winners = []
        while drum and len(winners) < prizes:
            name = RANDOM.choice(drum)
            winners.append(name)
            drum = [ticket for ticket in drum if ticket != name]
        return winners


def raffle():
    result = Raffle()
    for name in ("ann", "ben", "cas", "dee", "eva"):
        result.sell(name, 2)
    return result


def test_nobody_wins_twice_in_one_draw():
    assert sorted(raffle().draw_winners(5)) == ["ann", "ben", "cas", "dee", "eva"]
    assert len(set(raffle().draw_winners(3))) == 3
    assert len(raffle().draw_winners(99)) == 5
    assert Raffle().draw_winners(1) == []
    assert raffle().draw_winners(0) == []


def test_different_draws_have_different_winners():
    same = raffle()
    assert len({same.draw_winners(1)[0] for _ in range(4)}) == 4


if __name__ == "__main__":
    test_nobody_wins_twice_in_one_draw()
    test_different_draws_have_different_winners()
