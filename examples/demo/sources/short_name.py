"""Names on badges for a conference."""

PARTICLES = {"da", "de", "del", "der", "di", "la", "van", "von"}
LONGEST = 24


def tidy(text):
    """Return the text with single spaces."""
    return " ".join(text.split())


def surname_at(words):
    """Return where the surname begins: at its first particle, else at the last word."""
    for at in range(1, len(words) - 1):
        if words[at].lower() in PARTICLES:
            return at
    return len(words) - 1


def short_name(full_name):
    """Return the name as it is printed on a badge."""
    words = tidy(full_name).split()
    if len(words) < 2:
        return tidy(full_name)
    at = surname_at(words)
    initials = [word[0].upper() + "." for word in words[1:at]]
    surname = " ".join(words[at:-1] + [words[-1].upper()])
    return " ".join([words[0], *initials, surname])


def test_short_name():
    assert short_name("Plato") == "Plato"
    assert short_name("  Ann   Bell ") == "Ann BELL"
    assert short_name("Ann Bea Bell") == "Ann B. BELL"
    assert short_name("Ben de Groot") == "Ben de GROOT"
    assert short_name("Ben Carl van der Groot") == "Ben C. van der GROOT"
    assert short_name("") == ""


if __name__ == "__main__":
    test_short_name()
