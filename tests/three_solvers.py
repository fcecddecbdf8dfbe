"""What three annotators write for ten of the demo's examples, and say of them: right, naturally wrong, and otherwise.

The four examples with a flaw on purpose (examples/demo/manifest.toml) are solved as people would who know nothing of it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from tests.answers import SPLIT_AMOUNT

FAIR = {"instruction_quality": "0", "test_quality": "0"}
BLAMES_TESTS = {
    "outcome": "tests_wrong",
    "evidence_test": "hidden",
    "evidence": "The instruction asks for it in so many words.",
    "test_quality": "3",
    "test_note": "A right answer is rejected.",
}
VAGUE = {
    "instruction_quality": "2",
    "instruction_note": "How middle names are shortened is not said.",
}


@dataclass(frozen=True)
class Answer:
    """What one of the three sends: the function, what it needs beside it, and what is said of the example."""

    function: str
    module: str = ""
    said: dict[str, Any] = field(default_factory=dict)


MEDIAN = """    def median_price(self, district):
        prices = sorted(self.prices(district))
        if not prices:
            return None
        middle = len(prices) // 2
        if len(prices) % 2:
            return prices[middle]
        return (prices[middle - 1] + prices[middle]) / 2
"""
MEDIAN_BY_SLICE = """    def median_price(self, district):
        prices = sorted(self.prices(district))
        low, high = (len(prices) - 1) // 2, len(prices) // 2
        return sum(prices[low : high + 1]) / (high - low + 1) if prices else None
"""
MEDIAN_BY_LIBRARY = """    def median_price(self, district):
        prices = self.prices(district)
        return median(prices) if prices else None
"""
MEDIAN_SAID = {
    **BLAMES_TESTS,
    "evidence_input": "median_price of 400, 100, 250, 350",
    "evidence_expected": "300",
    "evidence_got": "250, I believe",
}

GROUPS_AS_THEY_COME = """def group_anagrams(words):
    groups = {}
    for word in words:
        groups.setdefault(letters(word), []).append(word)
    return [group for group in groups.values() if len(group) > 1]
"""
GROUPS_BY_SCAN = """def group_anagrams(words):
    found, seen = [], set()
    for word in words:
        key = letters(word)
        if key not in seen:
            seen.add(key)
            alike = [other for other in words if letters(other) == key]
            if len(alike) > 1:
                found.append(alike)
    return found
"""
GROUPS_IN_ORDER = """def group_anagrams(words):
    groups = defaultdict(list)
    for word in words:
        groups[letters(word)].append(word)
    return sorted(group for group in groups.values() if group[1:])
"""
GROUPS_SAID = {
    **BLAMES_TESTS,
    "evidence_input": "tea, stop, eat, pots",
    "evidence_expected": "the groups in any order",
    "evidence_got": "one order",
}

NAME_IN_CAPITALS = """def short_name(full_name):
    words = tidy(full_name).split()
    if len(words) < 2:
        return tidy(full_name)
    at = surname_at(words)
    initials = [f"{word[0]}." for word in words[1:at]]
    return " ".join([words[0], *initials, *(word.upper() for word in words[at:])])
"""
NAME_WITHOUT_DOTS = """def short_name(full_name):
    words = tidy(full_name).split()
    if len(words) < 2:
        return " ".join(words)
    at = surname_at(words)
    middle = "".join(f" {word[0].upper()}" for word in words[1:at])
    return f"{words[0]}{middle} {' '.join([*words[at:-1], words[-1].upper()])}"
"""
NAME_WITHOUT_MIDDLE = """def short_name(full_name):
    words = tidy(full_name).split()
    if len(words) < 2:
        return tidy(full_name)
    at = surname_at(words)
    return " ".join([words[0], *words[at:-1], words[-1].upper()])
"""

DRAW_BY_SHUFFLE = """    def draw_winners(self, prizes):
        drum = list(self.tickets)
        RANDOM.shuffle(drum)
        return list(dict.fromkeys(drum))[:prizes]
"""
DRAW_ONE_BY_ONE = """    def draw_winners(self, prizes):
        winners = []
        left = list(self.tickets)
        for _ in range(prizes):
            if not left:
                break
            winners.append(left[RANDOM.randrange(len(left))])
            left = [name for name in left if name not in winners]
        return winners
"""

MERGE = """def merge_shifts(shifts, pause=0):
    if any(shift.end <= shift.start for shift in shifts):
        raise ValueError("a shift must end after it starts")
    result = []
    for shift in sorted(shifts):
        if result and shift.start <= result[-1].end + pause:
            last = result.pop()
            shift = Shift(last.start, max(last.end, shift.end))
        result.append(shift)
    return result
"""
MERGE_WITHOUT_NESTING = MERGE.replace("max(last.end, shift.end)", "shift.end")

PARSE = """def parse_duration(text):
    plain = "".join(text.lower().split())
    if plain.isdigit():
        return int(plain)
    match = re.fullmatch(r"(?:(\\d+)d)?(?:(\\d+)h)?(?:(\\d+)m)?(?:(\\d+)s)?", plain)
    if not plain or not match:
        raise ValueError(text)
    return sum(int(part or 0) * UNITS[unit] for part, unit in zip(match.groups(), ORDER))
"""
PARSE_ANY_ORDER = """def parse_duration(text):
    plain = text.strip().lower()
    if plain.isdigit():
        return int(plain)
    found = PART.findall(plain)
    if not found:
        raise ValueError(text)
    return sum(int(count) * UNITS[unit] for count, unit in found)
"""

CONTRAST = """def contrast_ratio(a, b):
    first, second = (luminance(parse_colour(each)) + 0.05 for each in (a, b))
    return round(max(first, second) / min(first, second), 2)
"""
CONTRAST_UNSORTED = """def contrast_ratio(a, b):
    first, second = (luminance(parse_colour(each)) for each in (a, b))
    return round((first + 0.05) / (second + 0.05), 2)
"""

BOWLING = """def frame_scores(rolls):
    scores, at = [], 0
    for _ in range(FRAMES):
        strike = rolls[at : at + 1] == [PINS]
        need = 3 if strike or sum(rolls[at : at + 2]) == PINS else 2
        if len(rolls) < at + need:
            return scores
        scores.append(sum(rolls[at : at + need]))
        at += 1 if strike else 2
    return scores
"""
BOWLING_WITHOUT_END = BOWLING.replace("for _ in range(FRAMES):", "while True:")

WINNER = """    def winner(self):
        lines = ((1, 0), (0, 1), (1, 1), (1, -1))
        for column in range(WIDTH):
            for row in range(HEIGHT):
                for right, up in lines:
                    four = {self.at(column + n * right, row + n * up) for n in range(4)}
                    if len(four) == 1 and EMPTY not in four:
                        return four.pop()
        return None
"""
WINNER_ONE_DIAGONAL = WINNER.replace(", (1, -1))", ")")

# By the key of the example: what each of the three sends.
ANSWERS: dict[str, tuple[Answer, Answer, Answer]] = {
    "group_anagrams": (
        Answer(GROUPS_AS_THEY_COME, said=GROUPS_SAID),
        Answer(GROUPS_BY_SCAN, said={"outcome": "gave_up"}),
        Answer(GROUPS_IN_ORDER, "from collections import defaultdict\n"),
    ),
    "median_price": (
        Answer(MEDIAN, said=MEDIAN_SAID),
        Answer(MEDIAN_BY_SLICE, said={"outcome": "gave_up"}),
        Answer(MEDIAN_BY_LIBRARY, "from statistics import median\n", said=MEDIAN_SAID),
    ),
    "short_name": (
        Answer(NAME_IN_CAPITALS, said={"outcome": "gave_up", **VAGUE}),
        Answer(NAME_WITHOUT_DOTS, said={"outcome": "gave_up", **VAGUE}),
        Answer(NAME_WITHOUT_MIDDLE, said={"outcome": "gave_up"}),
    ),
    "draw_winners": (
        Answer(DRAW_BY_SHUFFLE, said={"outcome": "gave_up"}),
        Answer(DRAW_ONE_BY_ONE, said={"outcome": "gave_up"}),
        Answer(DRAW_BY_SHUFFLE, said={"outcome": "gave_up"}),
    ),
    "split_amount": (Answer(SPLIT_AMOUNT.right), Answer(SPLIT_AMOUNT.right), Answer(SPLIT_AMOUNT.wrong)),
    "merge_shifts": (Answer(MERGE), Answer(MERGE_WITHOUT_NESTING), Answer(MERGE)),
    "parse_duration": (Answer(PARSE), Answer(PARSE_ANY_ORDER), Answer(PARSE)),
    "contrast_ratio": (Answer(CONTRAST), Answer(CONTRAST), Answer(CONTRAST_UNSORTED)),
    "bowling_score": (Answer(BOWLING_WITHOUT_END), Answer(BOWLING), Answer(BOWLING)),
    "connect_four": (Answer(WINNER), Answer(WINNER_ONE_DIAGONAL), Answer(WINNER)),
}
FLAWED = {
    "group_anagrams": "over_strict",
    "median_price": "wrong_reference",
    "short_name": "underspecified",
    "draw_winners": "flaky",
}


def in_any_order(tests: str) -> str:
    """Return the tests of the anagrams as they should be: groups are accepted in any order."""
    return re.sub(r"assert (group_anagrams\(.*\)) ==", r"assert sorted(\1) ==", tests)
