"""In which order the parts of a project are built."""

import heapq


class DependencyCycle(Exception):
    """Parts that need each other; `parts` are those that can never be built, sorted."""

    def __init__(self, parts):
        super().__init__("these need each other: " + ", ".join(parts))
        self.parts = parts


def parse_needs(text):
    """Return needs read from lines such as 'app: web, core'; a part may need nothing."""
    needs = {}
    for line in text.strip().splitlines():
        part, _, rest = line.partition(":")
        needs[part.strip()] = [each.strip() for each in rest.split(",") if each.strip()]
    return needs


def build_order(needs):
    """Return all parts in an order in which each comes after what it needs."""
    waiting = {}
    users = {}
    for part, required in needs.items():
        waiting.setdefault(part, set()).update(required)
        for each in required:
            waiting.setdefault(each, set())
            users.setdefault(each, set()).add(part)
    ready = [part for part, required in waiting.items() if not required]
    heapq.heapify(ready)
    order = []
    while ready:
        part = heapq.heappop(ready)
        order.append(part)
        for user in users.get(part, ()):
            waiting[user].discard(part)
            if not waiting[user]:
                heapq.heappush(ready, user)
    if len(order) < len(waiting):
        raise DependencyCycle(sorted(set(waiting) - set(order)))
    return order


def test_each_part_comes_after_what_it_needs():
    assert build_order({}) == []
    assert build_order({"app": ["web", "core"], "web": ["core"], "core": []}) == ["core", "web", "app"]
    assert build_order(parse_needs("app: lib\nlib:")) == ["lib", "app"]


def test_the_alphabet_decides_and_unlisted_parts_count():
    assert build_order({"b": [], "c": [], "a": []}) == ["a", "b", "c"]
    assert build_order({"z": ["y"], "a": ["x"]}) == ["x", "a", "y", "z"]
    assert build_order({"a": ["b", "b"], "b": []}) == ["b", "a"]


def test_a_cycle_is_named():
    needs = {"a": ["b"], "b": ["c"], "c": ["b"], "d": []}
    try:
        found = build_order(needs)
    except DependencyCycle as error:
        found = error.parts
    assert found == ["a", "b", "c"]
    assert needs == {"a": ["b"], "b": ["c"], "c": ["b"], "d": []}


if __name__ == "__main__":
    test_each_part_comes_after_what_it_needs()
    test_the_alphabet_decides_and_unlisted_parts_count()
    test_a_cycle_is_named()
