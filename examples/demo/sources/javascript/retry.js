"use strict";

/** An error that trying again cannot mend. */
class Final extends Error {}

/** Call `action` until it succeeds, at most `tries` times; `pause(n)` is awaited before the n-th try from the second on. */
async function retry(action, tries, pause) {
  let last;
  for (let number = 1; number <= tries; number += 1) {
    if (number > 1) {
      await pause(number);
    }
    try {
      return await action(number);
    } catch (error) {
      last = error;
      if (error instanceof Final) {
        break;
      }
    }
  }
  throw last;
}

async function test_a_success_ends_it() {
  const calls = [];
  const value = await retry(async (number) => { calls.push(number); return number * 2; }, 3, () => calls.push("pause"));
  assert.equal(value, 2);
  assert.deepEqual(calls, [1]);
}

async function test_it_goes_on_after_failures() {
  const calls = [];
  const action = async (number) => {
    calls.push(number);
    if (number < 3) throw new Error("not yet");
    return "done";
  };
  assert.equal(await retry(action, 5, (number) => calls.push(`pause ${number}`)), "done");
  assert.deepEqual(calls, [1, "pause 2", 2, "pause 3", 3]);
}

async function test_the_last_error_is_passed_on() {
  const action = (number) => { throw new Error(`try ${number}`); };
  await assert.rejects(retry(action, 2, () => {}), /try 2/);
}

async function test_a_final_error_is_not_tried_again() {
  let count = 0;
  const action = () => { count += 1; throw new Final("never"); };
  await assert.rejects(retry(action, 9, () => {}), Final);
  assert.equal(count, 1);
}
