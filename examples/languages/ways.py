"""What a language's ways are for the rest of examples, and where they are found by the language's name."""

from __future__ import annotations

from typing import Final

from examples.languages.base import Ways
from examples.languages.cpp.ways import CppWays
from examples.languages.javascript.ways import JavaScriptWays
from examples.languages.python.ways import PythonWays

_WAYS: Final[dict[str, Ways]] = {each.name: each for each in (PythonWays(), JavaScriptWays(), CppWays())}
LANGUAGES = tuple(_WAYS)


class LanguageUnknown(LookupError):
    """No ways of that name are installed."""


def ways(language: str) -> Ways:
    """Return the ways of a language. Raises LanguageUnknown."""
    try:
        return _WAYS[language]
    except KeyError:
        raise LanguageUnknown(f"There is no language {language!r}; there are: {', '.join(_WAYS)}.") from None
