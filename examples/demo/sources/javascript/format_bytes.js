"use strict";

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];

/** Return a number of bytes as people read it: three digits at most, and a unit. */
function formatBytes(bytes) {
  let size = Math.abs(bytes);
  let unit = 0;
  while (unit < UNITS.length - 1 && (unit === 0 ? size >= 1024 : Number(rounded(size)) >= 1024)) {
    size /= 1024;
    unit += 1;
  }
  const sign = bytes < 0 ? "-" : "";
  return `${sign}${unit === 0 ? size : rounded(size)} ${UNITS[unit]}`;
}

/** Return a number with one decimal below 10, none from 10 on; a zero behind the point is dropped. */
function rounded(size) {
  const text = size < 9.95 ? size.toFixed(1) : size.toFixed(0);
  return text.endsWith(".0") ? text.slice(0, -2) : text;
}
