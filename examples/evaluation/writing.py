"""EVALUATE: a leaderboard as plain values and as CSV; what is undefined is null, with its reason."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from config.cells import csv_line
from examples.evaluation.leaderboard import Board, Line
from examples.evaluation.pass_at_k import Mean


def board_as_json(board: Board, place: str) -> dict[str, Any]:
    """Return the board as plain values."""
    return {"over": place, "versions": board.common, "models": [line_as_json(line) for line in board.lines]}


def line_as_json(line: Line) -> dict[str, Any]:
    """Return a line as plain values; what is undefined is null, with its reason."""
    made = line.evaluation
    return {
        "evaluation": made.name,
        "model": made.model_name,
        "state": line.progress.state,
        "samples": line.samples,
        "passed": line.passed,
        "unjudged": line.progress.unjudged,
        "limit": line.limit,
        "n": made.samples_asked,
        "temperature": made.temperature,
        "top_p": made.top_p,
        "max_tokens": made.max_tokens,
        "pass_at": {str(k): mean_as_json(value) for k, value in line.figures},
    }


def mean_as_json(value: Mean) -> dict[str, Any]:
    """Return a mean with denominator and interval."""
    interval = None if value.low is None or value.high is None else [value.low, value.high]
    return {
        "value": value.value,
        "examples": value.n,
        "of": value.total,
        "interval": interval,
        "reason": value.reason,
    }


def board_as_csv(board: Board) -> Iterator[bytes]:
    """Yield the board as CSV, a model a line."""
    head = ["evaluation", "model", "state", "samples", "passed", "unjudged", "limit"]
    head += ["n", "temperature", "top_p", "max_tokens"]
    for k in board.ks:
        head += [f"pass@{k}", f"pass@{k}_low", f"pass@{k}_high", f"pass@{k}_examples", f"pass@{k}_of"]
    yield csv_line(head).encode()
    for line in board.lines:
        plain = line_as_json(line)
        cells = [plain[name] for name in head[:11]]
        for _, value in line.figures:
            cells += [value.value, value.low, value.high, value.n, value.total]
        yield csv_line("" if cell is None else cell for cell in cells).encode()
