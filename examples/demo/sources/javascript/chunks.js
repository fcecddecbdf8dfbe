"use strict";

/** Return everything an iterable gives, as an array. */
function all(iterable) {
  return [...iterable];
}

/** Yield arrays of `size` items, the last perhaps shorter; nothing is read ahead of what is asked for. */
function* chunks(items, size) {
  if (!Number.isInteger(size) || size < 1) {
    throw new RangeError("size is a whole number from 1");
  }
  let chunk = [];
  for (const item of items) {
    chunk.push(item);
    if (chunk.length === size) {
      yield chunk;
      chunk = [];
    }
  }
  if (chunk.length > 0) {
    yield chunk;
  }
}

function test_arrays_and_texts() {
  assert.deepEqual(all(chunks([1, 2, 3, 4, 5], 2)), [[1, 2], [3, 4], [5]]);
  assert.deepEqual(all(chunks("abcd", 2)), [["a", "b"], ["c", "d"]]);
  assert.deepEqual(all(chunks([], 3)), []);
}

function test_it_reads_no_more_than_it_must() {
  let read = 0;
  function* numbers() { for (;;) { read += 1; yield read; } }
  const first = chunks(numbers(), 3).next();
  assert.deepEqual(first.value, [1, 2, 3]);
  assert.equal(read, 3);
}

function test_each_chunk_is_an_array_of_its_own() {
  const [first, second] = chunks([1, 2], 1);
  first.push(9);
  assert.deepEqual(second, [2]);
}

function test_a_size_below_one_is_refused() {
  assert.throws(() => all(chunks([1], 0)), RangeError);
}
