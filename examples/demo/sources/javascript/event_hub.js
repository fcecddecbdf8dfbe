"use strict";

/** Calls listeners by the name of an event; `*` listens to all of them. */
class EventHub {
  constructor() {
    this.listeners = new Map();
  }

  /** Let a listener hear of an event; return what takes it away again. */
  on(name, listener, { once = false } = {}) {
    const entry = { listener, once };
    const entries = this.listeners.get(name) ?? [];
    this.listeners.set(name, [...entries, entry]);
    return () => this.drop(name, entry);
  }

  drop(name, entry) {
    const left = (this.listeners.get(name) ?? []).filter((each) => each !== entry);
    this.listeners.set(name, left);
  }

  /** Call the listeners of an event with (name, value); return the errors they threw. */
  emit(name, value) {
    const errors = [];
    for (const key of name === "*" ? ["*"] : [name, "*"]) {
      for (const entry of this.listeners.get(key) ?? []) {
        if (entry.once) {
          this.drop(key, entry);
        }
        try {
          entry.listener(name, value);
        } catch (error) {
          errors.push(error);
        }
      }
    }
    return errors;
  }
}

function test_listeners_hear_in_order() {
  const hub = new EventHub();
  const heard = [];
  hub.on("*", (name) => heard.push(`all ${name}`));
  hub.on("save", (name, value) => heard.push(`first ${value}`));
  hub.on("save", (name, value) => heard.push(`second ${value}`));
  hub.emit("save", 7);
  assert.deepEqual(heard, ["first 7", "second 7", "all save"]);
  hub.emit("open", 1);
  assert.equal(heard.length, 4);
}

function test_once_is_once() {
  const hub = new EventHub();
  let count = 0;
  hub.on("tick", () => { count += 1; hub.emit("tick"); }, { once: true });
  hub.emit("tick");
  hub.emit("tick");
  assert.equal(count, 1);
}

function test_an_error_stops_nobody_else() {
  const hub = new EventHub();
  let reached = false;
  hub.on("x", () => { throw new Error("broken"); });
  hub.on("x", () => { reached = true; });
  const errors = hub.emit("x");
  assert(reached);
  assert.deepEqual(errors.map((each) => each.message), ["broken"]);
  assert.deepEqual(hub.emit("nobody"), []);
}

function test_who_leaves_is_not_called() {
  const hub = new EventHub();
  const heard = [];
  const leave = hub.on("x", () => heard.push("a"));
  hub.on("x", () => heard.push("b"));
  leave();
  hub.emit("x");
  assert.deepEqual(heard, ["b"]);
}
