"use strict";

/** Return a part of a query with its escapes undone; a plus stands for a space. */
function decode(part) {
  return decodeURIComponent(part.replace(/\+/g, " "));
}

/** Return the parameters of a query string as an object. */
function parseQuery(query) {
  const found = {};
  const text = query.startsWith("?") ? query.slice(1) : query;
  for (const pair of text.split("&")) {
    if (pair === "") {
      continue;
    }
    const at = pair.indexOf("=");
    const name = decode(at < 0 ? pair : pair.slice(0, at));
    const value = at < 0 ? true : decode(pair.slice(at + 1));
    if (!Object.hasOwn(found, name)) {
      found[name] = value;
    } else if (Array.isArray(found[name])) {
      found[name].push(value);
    } else {
      found[name] = [found[name], value];
    }
  }
  return found;
}

module.exports = { decode, parseQuery };
