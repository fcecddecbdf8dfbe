# Everything a person types; what it does stands in scripts/ and in manage.py's commands.
.DEFAULT_GOAL := help
.PHONY: help run test coverage doctor passwords bench drill lint lock shots
MAKEFLAGS += --no-print-directory
PYTHON_HERE := .venv/bin/python

help:       ## Say what there is
	@grep -hE '^[a-z]+: .*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | sort

run:        ## Set everything up and serve http://127.0.0.1:8000 (HOST and PORT choose another address)
	@scripts/run.sh

test:       ## Set up what the tests need and run everything (ARGS are given to pytest)
	@scripts/test.sh $(ARGS)

coverage:   ## The same, and say which lines no test has run; takes half as long again
	@scripts/test.sh --cov --cov-report=term:skip-covered $(ARGS)

doctor:     ## Start containers and show what holds on this host; exit 1 where something does not
	@scripts/venv.sh && $(PYTHON_HERE) manage.py doctor

passwords:  ## Give the demo accounts new passwords and print them
	@$(PYTHON_HERE) manage.py demo_passwords

bench:      ## Measure this machine: latency, people at once, import, list, export (ARGS: part of a name)
	@scripts/venv.sh dev && $(PYTHON_HERE) -m tests.benchmarks $(ARGS)

drill:      ## Kill workers, take published files through the checks, and print what came of it
	@scripts/venv.sh dev && $(PYTHON_HERE) -m tests.benchmarks --drills $(ARGS)

lint:       ## ruff, mypy and the import contracts
	@scripts/venv.sh dev && .venv/bin/ruff check . && .venv/bin/ruff format --check . \
		&& .venv/bin/mypy && .venv/bin/lint-imports

lock:       ## Resolve requirements*.in into the pinned, hashed requirements*.txt
	@scripts/venv.sh dev && .venv/bin/uv pip compile -q --generate-hashes --python-version 3.11 \
		requirements.in -o requirements.txt && .venv/bin/uv pip compile -q --generate-hashes \
		--python-version 3.11 requirements-dev.in -o requirements-dev.txt

shots:      ## Picture every page, light and dark, wide and narrow, into var/shots (ARGS=--docs: those of docs/, too)
	@scripts/venv.sh dev && $(PYTHON_HERE) -m tests.browser.shots $(ARGS)
