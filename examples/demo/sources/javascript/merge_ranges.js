"use strict";

/** Throw a RangeError for a range whose end lies before its start. */
function checkRange([from, to]) {
  if (!(from <= to)) {
    throw new RangeError(`${from} to ${to} is no range`);
  }
}

/** Return ranges of pages as few as possible, in order. */
function mergeRanges(ranges) {
  ranges.forEach(checkRange);
  const merged = [];
  for (const [from, to] of [...ranges].sort((a, b) => a[0] - b[0])) {
    const last = merged.at(-1);
    if (last && from <= last[1] + 1) {
      last[1] = Math.max(last[1], to);
    } else {
      merged.push([from, to]);
    }
  }
  return merged;
}

function test_ranges_apart_stay() {
  assert.deepEqual(mergeRanges([]), []);
  assert.deepEqual(mergeRanges([[1, 2]]), [[1, 2]]);
  assert.deepEqual(mergeRanges([[7, 9], [1, 3]]), [[1, 3], [7, 9]]);
}

function test_ranges_that_overlap_or_touch_become_one() {
  assert.deepEqual(mergeRanges([[1, 5], [3, 8]]), [[1, 8]]);
  assert.deepEqual(mergeRanges([[1, 2], [3, 4], [6, 6]]), [[1, 4], [6, 6]]);
  assert.deepEqual(mergeRanges([[1, 10], [2, 3]]), [[1, 10]]);
  assert.deepEqual(mergeRanges([[10, 11], [2, 3], [4, 9]]), [[2, 11]]);
}

function test_the_ranges_given_are_left_alone() {
  const given = [[3, 4], [1, 2]];
  mergeRanges(given);
  assert.deepEqual(given, [[3, 4], [1, 2]]);
}

function test_what_is_no_range_is_refused() {
  assert.throws(() => mergeRanges([[1, 2], [5, 4]]), RangeError);
}
