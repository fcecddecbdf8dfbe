"""DEMO: a dataset written for Benchwright, so that a new site has something to solve; MIT like the rest.

sources/<key>.py   code, reference, tests and block in one file, in the form in which Exec-CSN is published
manifest.toml      title, domain and instruction of each, and for four of them the flaw they hold on purpose
demo.jsonl         what records() makes of the two, in our own format; `python -m examples.demo` writes it anew
"""
