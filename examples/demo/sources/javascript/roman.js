"use strict";

const SIGNS = [
  ["M", 1000], ["CM", 900], ["D", 500], ["CD", 400], ["C", 100], ["XC", 90],
  ["L", 50], ["XL", 40], ["X", 10], ["IX", 9], ["V", 5], ["IV", 4], ["I", 1],
];

/** Return a number from 1 to 3999 in Roman numerals. */
function toRoman(number) {
  let text = "";
  for (const [sign, worth] of SIGNS) {
    while (number >= worth) {
      text += sign;
      number -= worth;
    }
  }
  return text;
}

/** Return the number that Roman numerals stand for, null where nobody would write it so. */
function fromRoman(text) {
  let number = 0;
  let rest = text.trim().toUpperCase();
  for (const [sign, worth] of SIGNS) {
    while (rest.startsWith(sign)) {
      number += worth;
      rest = rest.slice(sign.length);
    }
  }
  const known = rest === "" && number > 0 && number < 4000;
  return known && toRoman(number) === text.trim().toUpperCase() ? number : null;
}
