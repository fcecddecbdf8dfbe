"""Running many jobs at once, but not too many."""

import asyncio


class Gauge:
    """Counts how many jobs run at the same time, for the tests and the curious."""

    def __init__(self):
        self.now = 0
        self.most = 0

    async def job(self, result, pauses=1):
        """Take a few turns of the event loop, then return `result`; an exception is raised instead."""
        self.now += 1
        self.most = max(self.most, self.now)
        try:
            for _ in range(pauses):
                await asyncio.sleep(0)
            if isinstance(result, Exception):
                raise result
            return result
        finally:
            self.now -= 1


async def run_limited(jobs, limit):
    """Return the results of all jobs, at most `limit` of them running at once."""
    if limit < 1:
        raise ValueError("the limit must be positive")
    gate = asyncio.Semaphore(limit)

    async def run(job):
        async with gate:
            try:
                return await job()
            except Exception as error:
                return error

    return await asyncio.gather(*(run(job) for job in jobs))


async def test_results_come_in_the_order_of_the_jobs():
    gauge = Gauge()
    jobs = [lambda n=n: gauge.job(n, pauses=9 - n) for n in range(9)]
    assert await run_limited(jobs, 3) == list(range(9))
    assert gauge.most == 3
    assert await run_limited([], 3) == []


async def test_the_limit_is_used_and_kept():
    for limit, most in ((1, 1), (4, 4), (100, 6)):
        gauge = Gauge()
        await run_limited([lambda: gauge.job(None, pauses=3)] * 6, limit)
        assert gauge.most == most


async def test_a_job_that_fails_gives_its_error_and_stops_no_other():
    gauge = Gauge()
    error = KeyError("lost")
    results = await run_limited([lambda: gauge.job(1), lambda: gauge.job(error), lambda: gauge.job(3)], 1)
    assert results == [1, error, 3]
    try:
        results = await run_limited([], 0)
    except ValueError:
        results = "refused"
    assert results == "refused"


async def main():
    await test_results_come_in_the_order_of_the_jobs()
    await test_the_limit_is_used_and_kept()
    await test_a_job_that_fails_gives_its_error_and_stops_no_other()


if __name__ == "__main__":
    asyncio.run(main())
