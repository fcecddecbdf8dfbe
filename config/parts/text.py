"""Text written by others, made inert: no escape sequence acts, no invisible character stays invisible."""

from __future__ import annotations

import re

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

# ECMA-48 control sequences and strings, 7 and 8 bit. An unfinished string ends with its line, so it hides nothing more.
_SEQUENCES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"
    r"|(?:\x1b\]|\x9d)[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?"
    r"|(?:\x1b[PX^_]|[\x90\x98\x9e\x9f])[^\x1b\x9c\n]*(?:\x1b\\|\x9c)?"
    r"|\x1b[ -/]*[0-~]"
)
# Controls but tab and newline; soft hyphen; zero width, bidirectional and other format characters (Unicode TR 36, 39);
# line and paragraph separators; lone surrogates, which no response can encode; tag characters.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)


def without_sequences(text: str) -> str:
    """Return the text without terminal escape sequences and with plain line ends."""
    return _SEQUENCES.sub("", text).replace("\r\n", "\n")


def name_of(character: str) -> str:
    """Return what stands for a hidden character: a control picture, or its number as U+202E."""
    number = ord(character)
    if number < 0x20:
        return chr(0x2400 + number)
    return "\u2421" if number == 0x7F else f"U+{number:04X}"


def named(text: str) -> str:
    """Return the text with every hidden character replaced by its name, as plain text."""
    return _HIDDEN.sub(lambda found: f"[{name_of(found[0])}]", text)


def visible(text: str) -> SafeString:
    """Return the text escaped, each hidden character replaced by its marked name."""
    if not _HIDDEN.search(text):
        return escape(text)
    parts: list[str] = []
    at = 0
    for found in _HIDDEN.finditer(text):
        parts.append(escape(text[at : found.start()]))
        parts.append(f'<span class="ctl">{name_of(found[0])}</span>')
        at = found.end()
    parts.append(escape(text[at:]))
    return mark_safe("".join(parts))  # noqa: S308 - every piece is escaped or ours


def inert(text: object) -> SafeString:
    """Return a program's output, or any foreign text, as one isolated run that can neither act nor reorder others."""
    shown = visible(without_sequences("" if text is None else str(text)))
    return mark_safe(f'<bdi class="inert">{shown}</bdi>')  # noqa: S308 - visible() escapes
