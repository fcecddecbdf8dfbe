"""DEMO: a dataset written for Benchwright, so that a new site has something to solve; MIT like the rest.

sources/<key>.py   code, reference, tests and block in one file, in the form in which Exec-CSN is published
manifest.toml      title, domain and instruction of each, and for four of them the flaw they hold on purpose
demo.jsonl         what records() makes of the two, in our own format; `python -m examples.demo` writes it anew
javascript.toml, cpp.toml, sources/<language>/, <language>.jsonl   the same for two more languages (braced.py), not part
                   of a new site: their images are built when they are asked for
"""
