"use strict";

/** Return the value at a path such as `user.name`, undefined where the way ends before. */
function valueAt(values, path) {
  return path.split(".").reduce((value, name) => (value == null ? undefined : value[name]), values);
}

/** Return a template with its fields filled in. */
function fillTemplate(template, values) {
  return template.replace(/\{\{|\}\}|\{([^{}]*)\}/g, (found, inside) => {
    if (found === "{{" || found === "}}") {
      return found[0];
    }
    const [path, fallback] = inside.split("|");
    const value = valueAt(values, path.trim());
    if (value === undefined || value === null) {
      return fallback === undefined ? found : fallback;
    }
    return Array.isArray(value) ? value.join(", ") : String(value);
  });
}
