"use strict";

/** Return a text's paragraphs: what blank lines part. */
function paragraphs(text) {
  return text.split(/\n[ \t]*\n/).map((each) => each.trim()).filter((each) => each !== "");
}

/** Return the lines of a text, wrapped between words. */
function wrapText(text, width) {
  const lines = [];
  for (const paragraph of paragraphs(text)) {
    if (lines.length > 0) {
      lines.push("");
    }
    let line = "";
    for (const word of paragraph.split(/\s+/)) {
      if (line !== "" && line.length + 1 + word.length > width) {
        lines.push(line);
        line = "";
      }
      line = line === "" ? word : `${line} ${word}`;
    }
    lines.push(line);
  }
  return lines;
}
