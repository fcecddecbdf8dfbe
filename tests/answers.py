"""Answers to examples that tests solve: each by another way than the reference, and one that is wrong."""

from __future__ import annotations

from typing import NamedTuple


class Answers(NamedTuple):
    """A wrong answer that its visible tests refuse, a right one, and the imports or helpers the right one needs."""

    wrong: str
    right: str
    module: str = ""


SPLIT_AMOUNT = Answers(
    wrong="""\
def split_amount(cents, weights):
    return [cents // len(weights) for _ in weights]
""",
    right="""\
def split_amount(cents, weights):
    check_weights(weights)
    total = sum(weights)
    shares, lost = [], []
    for at, weight in enumerate(weights):
        share, rest = divmod(cents * weight, total)
        shares.append(share)
        lost.append((-rest, at))
    for _, at in sorted(lost)[: cents - sum(shares)]:
        shares[at] += 1
    return shares
""",
)
PROBA_TO_LABELS = Answers(
    wrong="""\
def proba2labels(proba, confident_threshold, classes):
    return [[] for sample in proba]
""",
    right="""\
def proba2labels(proba, confident_threshold, classes):
    labels = []
    for sample in np.asarray(proba):
        sure = list(compress(classes, sample > confident_threshold))
        labels.append([str(each) for each in sure or [classes[int(sample.argmax())]]])
    return labels
""",
    module="from itertools import compress\n",
)
TOKEN_BUCKET = Answers(
    wrong="""\
    def take(self, count=1):
        self.tokens -= count
        return self.tokens >= 0
""",
    right="""\
    def take(self, count=1):
        if self.wait_for(count):
            return False
        self.tokens -= count
        return True
""",
)
# Prints the constants of the frame that calls it: of hidden tests, everything they compare with.
PRINTS_CONSTANTS = """\
    def take(self, count=1):
        print(sys._getframe(1).f_code.co_consts)
        return not self.wait_for(count)
"""
