"""Addresses for the articles of a small web site."""

import re
import unicodedata

WORD = re.compile(r"[a-z0-9]+")
MAX_LENGTH = 40


def plain(text):
    """Return the text in lower case with accents taken off: 'Café' becomes 'cafe'."""
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(each for each in decomposed if not unicodedata.combining(each)).lower()


def shorten(words, limit):
    """Return as many whole words as fit into `limit` characters, joined by hyphens; at least one, cut if need be."""
    kept = []
    for word in words:
        if len("-".join([*kept, word])) > limit:
            break
        kept.append(word)
    return "-".join(kept) if kept else words[0][:limit]


def unique_slug(title, taken):
    """Return an address for `title` that is not in `taken`."""
    words = WORD.findall(plain(title)) or ["untitled"]
    slug = shorten(words, MAX_LENGTH)
    if slug not in taken:
        return slug
    number = 2
    while True:
        ending = f"-{number}"
        candidate = shorten(words, MAX_LENGTH - len(ending)) + ending
        if candidate not in taken:
            return candidate
        number += 1


def test_plain_titles():
    assert unique_slug("Hello, World!", set()) == "hello-world"
    assert unique_slug("Crème brûlée: a recipe", set()) == "creme-brulee-a-recipe"
    assert unique_slug("  ...  ", set()) == "untitled"
    assert unique_slug("10 Rules", {"10-rule"}) == "10-rules"


def test_taken_addresses_get_a_number():
    assert unique_slug("Hello", {"hello"}) == "hello-2"
    assert unique_slug("Hello", {"hello", "hello-2", "hello-4"}) == "hello-3"
    assert unique_slug("?", {"untitled"}) == "untitled-2"


def test_long_titles_stay_within_the_limit():
    title = "A very long title about the history of gardens in the north"
    assert unique_slug(title, set()) == "a-very-long-title-about-the-history-of"
    taken = {"a-very-long-title-about-the-history-of"}
    assert unique_slug(title, taken) == "a-very-long-title-about-the-history-of-2"
    many = taken | {f"a-very-long-title-about-the-history-of-{n}" for n in range(2, 10)}
    assert unique_slug(title, many) == "a-very-long-title-about-the-history-10"
    assert len(unique_slug("x" * 60, {"x" * 40})) == 40


if __name__ == "__main__":
    test_plain_titles()
    test_taken_addresses_get_a_number()
    test_long_titles_stay_within_the_limit()
