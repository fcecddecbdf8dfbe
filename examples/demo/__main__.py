"""DEMO: write demo.jsonl, javascript.jsonl and cpp.jsonl anew from the sources: `python -m examples.demo`."""

from examples.demo.braced import ENDINGS, file_of
from examples.demo.braced import as_jsonl as braced_as_jsonl
from examples.demo.records import FILE, as_jsonl

FILE.write_text(as_jsonl())
for language in ENDINGS:
    file_of(language).write_text(braced_as_jsonl(language))
