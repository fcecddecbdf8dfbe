"""Settings that may refer to each other, as in path = ${home}/data."""

import re

PLACEHOLDER = re.compile(r"\$\{(\w+)\}")


class SettingError(Exception):
    """A setting that cannot be resolved; the message says why."""


class Settings:
    """Named texts; `${name}` in a value stands for another setting."""

    def __init__(self, values):
        self.values = dict(values)

    @classmethod
    def parse(cls, text):
        """Return the settings of lines such as 'name = value'; blank lines and lines with # are passed over."""
        pairs = {}
        for line in text.splitlines():
            if line.strip() and not line.lstrip().startswith("#"):
                name, _, value = line.partition("=")
                pairs[name.strip()] = value.strip()
        return cls(pairs)

    def resolve(self, name, _seen=()):
        """Return the value of a setting with everything it refers to put in."""
        if name in _seen:
            raise SettingError("circular: " + " -> ".join([*_seen, name]))
        if name not in self.values:
            raise SettingError(f"unknown: {name}")
        seen = (*_seen, name)
        return PLACEHOLDER.sub(lambda match: self.resolve(match[1], seen), self.values[name])

    def resolved(self):
        """Return all settings resolved."""
        return {name: self.resolve(name) for name in self.values}


def message_of(settings, name):
    try:
        settings.resolve(name)
    except SettingError as error:
        return str(error)
    return "no error"


def test_values_and_references():
    settings = Settings.parse("# paths\nhome = /srv\ndata = ${home}/data\n\nlog = ${data}/log-${home}")
    assert settings.resolve("home") == "/srv"
    assert settings.resolve("data") == "/srv/data"
    assert settings.resolve("log") == "/srv/data/log-/srv"
    assert settings.resolved()["log"] == "/srv/data/log-/srv"


def test_text_that_is_no_reference_stays():
    settings = Settings({"price": "$5 {net}", "empty": "", "twice": "${empty}${price}${price}", "slash": r"\1"})
    assert settings.resolve("price") == "$5 {net}"
    assert settings.resolve("twice") == "$5 {net}$5 {net}"
    assert Settings({"a": "${b}", "b": r"\1\g"}).resolve("a") == r"\1\g"


def test_errors_say_what_is_wrong():
    settings = Settings({"a": "${b}", "b": "${c}", "c": "${a}", "d": "${nothing}", "e": "${e}"})
    assert message_of(settings, "a") == "circular: a -> b -> c -> a"
    assert message_of(settings, "d") == "unknown: nothing"
    assert message_of(settings, "zzz") == "unknown: zzz"
    assert message_of(settings, "e") == "circular: e -> e"


if __name__ == "__main__":
    test_values_and_references()
    test_text_that_is_no_reference_stays()
    test_errors_say_what_is_wrong()
