"use strict";

/** Keeps the entries that were used last, as many as there is room for. */
class LruCache {
  #entries = new Map();

  constructor(room) {
    if (!Number.isInteger(room) || room < 1) {
      throw new RangeError("room is a whole number from 1");
    }
    this.room = room;
  }

  get size() {
    return this.#entries.size;
  }

  /** Return the value of a key, which is thereby used; undefined where there is none. */
  get(key) {
    const value = this.#entries.get(key);
    if (this.#entries.delete(key)) {
      this.#entries.set(key, value);
    }
    return value;
  }

  /** Put a value under a key; return the key that had to go for it, undefined where none had to. */
  put(key, value) {
    const known = this.#entries.delete(key);
    let gone;
    if (!known && this.#entries.size === this.room) {
      gone = this.#entries.keys().next().value;
      this.#entries.delete(gone);
    }
    this.#entries.set(key, value);
    return gone;
  }
}

function test_what_was_put_is_there() {
  const cache = new LruCache(2);
  assert.equal(cache.put("a", 1), undefined);
  assert.equal(cache.get("a"), 1);
  assert.equal(cache.get("b"), undefined);
  assert.equal(cache.size, 1);
}

function test_the_oldest_goes() {
  const cache = new LruCache(2);
  cache.put("a", 1);
  cache.put("b", 2);
  assert.equal(cache.put("c", 3), "a");
  assert.equal(cache.get("a"), undefined);
  assert.equal(cache.size, 2);
}

function test_a_look_counts_as_use() {
  const cache = new LruCache(2);
  cache.put("a", 1);
  cache.put("b", 2);
  cache.get("a");
  assert.equal(cache.put("c", 3), "b");
  assert.equal(cache.get("a"), 1);
}

function test_putting_again_is_use_too() {
  const cache = new LruCache(2);
  cache.put("a", 1);
  cache.put("b", 2);
  assert.equal(cache.put("a", 10), undefined);
  assert.equal(cache.put("c", 3), "b");
  assert.equal(cache.get("a"), 10);
}
