"""C++'s ways, as examples.languages.base asks for them."""

from __future__ import annotations

import re

from examples.languages.braces.ways import BracedWays

INCLUDED = re.compile(r"""^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]""", re.MULTILINE)


class CppWays(BracedWays):
    """C++20 as g++ builds it."""

    name = "cpp"
    title = "C++"
    dialect = "cpp"

    def libraries(self, text: str) -> tuple[str, ...]:
        """Return the headers that a text includes, sorted; a header of one's own in quotes."""
        found = {f'"{name}"' if sign == '"' else name for sign, name in INCLUDED.findall(text)}
        return tuple(sorted(found))

    def is_built_in(self, library: str) -> bool:
        """Return whether a header comes with the compiler and its C library."""
        return not library.startswith('"') and library.partition("/")[0] not in ("boost", "gtest", "Eigen")
