"""CSV that no spreadsheet runs: formulas neutralised, wherever it takes cells to begin; imports no app."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable
from typing import Any

# A cell that begins like a formula; or what follows a line break or a separator of other places than ours: there a
# quoted cell is cut in two, and its second half begins one. Blanks and quotes before a formula are passed over by some.
FORMULA = re.compile(r"""(?:\A|[;\t\r\n][\s;"']*)(?=[=+\-@])|\A(?=[\t\r])""")


def neutral(value: Any) -> Any:
    """Return a cell that no spreadsheet takes for a formula: text that it would take for one gets an apostrophe there."""
    return FORMULA.sub(lambda found: f"{found[0]}'", value) if isinstance(value, str) else value


def csv_line(cells: Iterable[Any]) -> str:
    """Return a row of CSV with CRLF behind it, its cells neutral."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerow([neutral(cell) for cell in cells])
    return text.getvalue()
