"""DEMO: write demo.jsonl anew from the sources: `python -m examples.demo`."""

from examples.demo.records import FILE, as_jsonl

FILE.write_text(as_jsonl())
