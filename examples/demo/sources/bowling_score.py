"""Ten-pin bowling: ten frames, a strike or a spare counts what follows as well."""

PINS = 10
FRAMES = 10


def parse_rolls(text):
    """Return the pins of each roll from a score sheet: X is a strike, / a spare, - a miss."""
    rolls = []
    for mark in text.replace(" ", ""):
        if mark == "X":
            rolls.append(PINS)
        elif mark == "/":
            rolls.append(PINS - rolls[-1])
        else:
            rolls.append(0 if mark == "-" else int(mark))
    return rolls


def frame_scores(rolls):
    """Return what each finished frame is worth."""
    scores = []
    at = 0
    while at < len(rolls) and len(scores) < FRAMES:
        strike = rolls[at] == PINS
        spare = not strike and sum(rolls[at : at + 2]) == PINS
        counted = rolls[at : at + (3 if strike or spare else 2)]
        if len(counted) < (3 if strike or spare else 2):
            break
        scores.append(sum(counted))
        at += 1 if strike else 2
    return scores


def total(text):
    """Return the score of a sheet."""
    return sum(frame_scores(parse_rolls(text)))


def test_frame_scores():
    assert frame_scores([]) == []
    assert frame_scores([3, 4]) == [7]
    assert frame_scores([3, 4, 5]) == [7]
    assert frame_scores([6, 4, 5, 2]) == [15, 7]
    assert frame_scores([10, 3, 4]) == [17, 7]
    assert frame_scores([10, 10]) == []
    assert frame_scores([10, 10, 4, 2]) == [24, 16, 6]
    assert frame_scores([0, 10, 5, 1]) == [15, 6]


def test_whole_games():
    assert total("XXXXXXXXXXXX") == 300
    assert total("9-" * 10) == 90
    assert total("5/" * 10 + "5") == 150
    assert len(frame_scores(parse_rolls("X" * 12))) == 10


if __name__ == "__main__":
    test_frame_scores()
    test_whole_games()
