"""Word games: words that are made of the same letters."""


def letters(word):
    """Return the word's letters in order, without regard to case: 'Tea' is 'aet'."""
    return "".join(sorted(word.lower()))


def are_anagrams(a, b):
    """Return whether two different words have the same letters."""
    return a.lower() != b.lower() and letters(a) == letters(b)


def group_anagrams(words):
    """Return the words that are anagrams of each other, in groups."""
    groups = {}
    for word in words:
        groups.setdefault(letters(word), []).append(word)
    return sorted(group for group in groups.values() if len(group) > 1)


def test_groups():
    assert group_anagrams([]) == []
    assert group_anagrams(["tea", "eat", "bat"]) == [["tea", "eat"]]
    assert group_anagrams(["one", "two", "three"]) == []


def test_several_groups():
    words = ["tea", "stop", "eat", "pots", "Ate", "night"]
    assert group_anagrams(words) == [["stop", "pots"], ["tea", "eat", "Ate"]]
    assert group_anagrams(["tab", "item", "bat", "time"]) == [["item", "time"], ["tab", "bat"]]


if __name__ == "__main__":
    test_groups()
    test_several_groups()
