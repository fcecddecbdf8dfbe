"""Ferry lines between islands, with the minutes that each takes."""

import heapq


class Network:
    """Places and the lines between them; every line runs both ways."""

    def __init__(self):
        self.lines = {}

    def connect(self, a, b, minutes):
        """Add a line; of two lines between the same places the faster one counts."""
        for here, there in ((a, b), (b, a)):
            known = self.lines.setdefault(here, {})
            known[there] = min(minutes, known.get(there, minutes))

    def neighbours(self, place):
        """Return the places next to `place` with the minutes to each."""
        return self.lines.get(place, {})

    def minutes(self, route):
        """Return how long a route takes."""
        return sum(self.lines[a][b] for a, b in zip(route, route[1:]))

    def shortest_route(self, start, goal):
        """Return the places of the fastest route, or None where there is no way."""
        waiting = [(0, [start])]
        done = set()
        while waiting:
            minutes, route = heapq.heappop(waiting)
            place = route[-1]
            if place == goal:
                return route
            if place in done:
                continue
            done.add(place)
            for there, more in self.neighbours(place).items():
                if there not in done:
                    heapq.heappush(waiting, (minutes + more, [*route, there]))
        return None


def islands():
    network = Network()
    for a, b, minutes in [("A", "B", 10), ("B", "C", 15), ("A", "C", 40), ("C", "D", 5), ("E", "F", 7)]:
        network.connect(a, b, minutes)
    return network


def test_the_fastest_route_wins():
    network = islands()
    assert network.shortest_route("A", "C") == ["A", "B", "C"]
    assert network.shortest_route("D", "A") == ["D", "C", "B", "A"]
    assert network.minutes(network.shortest_route("A", "D")) == 30


def test_edges_of_the_map():
    network = islands()
    assert network.shortest_route("A", "A") == ["A"]
    assert network.shortest_route("A", "E") is None
    assert network.shortest_route("A", "nowhere") is None


def test_a_new_line_changes_the_route():
    network = islands()
    network.connect("A", "C", 20)
    assert network.shortest_route("A", "D") == ["A", "C", "D"]
    network.connect("A", "C", 99)
    assert network.minutes(network.shortest_route("A", "C")) == 20


if __name__ == "__main__":
    test_the_fastest_route_wins()
    test_edges_of_the_map()
    test_a_new_line_changes_the_route()
