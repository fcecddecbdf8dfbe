"""Keeping callers from asking too often, with a bucket of tokens that fills up again."""

import time


class TokenBucket:
    """Holds up to `capacity` tokens and gains `rate` tokens a second; it starts full."""

    def __init__(self, capacity, rate, clock=time.monotonic):
        self.capacity = capacity
        self.rate = rate
        self.clock = clock
        self.tokens = float(capacity)
        self.filled_at = clock()

    def fill(self):
        """Add the tokens that have come in since the last time, up to the capacity."""
        now = self.clock()
        self.tokens = min(self.capacity, self.tokens + (now - self.filled_at) * self.rate)
        self.filled_at = now

    def take(self, count=1):
        """Take tokens if there are enough, and return whether there were."""
        self.fill()
        if count > self.tokens:
            return False
        self.tokens -= count
        return True

    def wait_for(self, count=1):
        """Return the seconds until `count` tokens are there, 0.0 where they are."""
        self.fill()
        return max(0.0, (count - self.tokens) / self.rate)


def test_tokens_come_back_with_time():
    bucket = TokenBucket(capacity=2, rate=5)
    assert bucket.take(2)
    assert not bucket.take(2)
    time.sleep(0.4)
    assert bucket.take(2)
    time.sleep(0.4)
    assert bucket.wait_for(2) == 0.0
    time.sleep(0.4)
    assert not bucket.take(3)
    time.sleep(0.4)
    assert bucket.take(2)


def test_a_clock_of_our_own():
    now = [100.0]
    bucket = TokenBucket(capacity=4, rate=2, clock=lambda: now[0])
    assert bucket.take(4)
    assert not bucket.take()
    assert bucket.wait_for(3) == 1.5
    now[0] += 1.5
    assert bucket.take(3)


if __name__ == "__main__":
    test_tokens_come_back_with_time()
    test_a_clock_of_our_own()
