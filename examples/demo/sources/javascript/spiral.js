"use strict";

/** Return the numbers of a table in a spiral, clockwise from the top left. */
function spiral(table) {
  const read = [];
  let [top, left] = [0, 0];
  let [bottom, right] = [table.length - 1, (table[0] ?? []).length - 1];
  while (top <= bottom && left <= right) {
    for (let x = left; x <= right; x += 1) read.push(table[top][x]);
    for (let y = top + 1; y <= bottom; y += 1) read.push(table[y][right]);
    if (top < bottom) for (let x = right - 1; x >= left; x -= 1) read.push(table[bottom][x]);
    if (left < right) for (let y = bottom - 1; y > top; y -= 1) read.push(table[y][left]);
    [top, left, bottom, right] = [top + 1, left + 1, bottom - 1, right - 1];
  }
  return read;
}
