"use strict";

/** Return a promise that is kept after some turns of the event loop. */
function turns(count) {
  return count ? new Promise((resolve) => setImmediate(resolve)).then(() => turns(count - 1)) : Promise.resolve();
}

/** Run jobs, at most `limit` at once; return what each came to, as Promise.allSettled says it. */
async function runLimited(jobs, limit) {
  if (!Number.isInteger(limit) || limit < 1) {
    throw new RangeError("limit is a whole number from 1");
  }
  const results = new Array(jobs.length);
  let next = 0;
  async function work() {
    while (next < jobs.length) {
      const at = next;
      next += 1;
      try {
        results[at] = { status: "fulfilled", value: await jobs[at]() };
      } catch (reason) {
        results[at] = { status: "rejected", reason };
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(limit, jobs.length) }, work));
  return results;
}

async function test_results_stand_in_the_order_of_the_jobs() {
  const jobs = [3, 1, 2].map((count) => () => turns(count).then(() => count * 10));
  const results = await runLimited(jobs, 3);
  assert.deepEqual(results.map((each) => each.value), [30, 10, 20]);
  assert.deepEqual(await runLimited([], 2), []);
}

async function test_no_more_than_the_limit_run_at_once() {
  let running = 0;
  let most = 0;
  const job = async () => {
    running += 1;
    most = Math.max(most, running);
    await turns(2);
    running -= 1;
  };
  await runLimited(new Array(7).fill(job), 3);
  assert.equal(most, 3);
}

async function test_a_failed_job_disturbs_no_other() {
  const jobs = [() => 1, () => { throw new Error("at once"); }, () => Promise.reject(new Error("later")), () => 4];
  const results = await runLimited(jobs, 1);
  assert.deepEqual(results.map((each) => each.status), ["fulfilled", "rejected", "rejected", "fulfilled"]);
  assert.equal(results[2].reason.message, "later");
  assert.equal(results[3].value, 4);
}

async function test_a_limit_below_one_is_refused() {
  await assert.rejects(runLimited([], 0), RangeError);
}
