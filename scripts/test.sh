#!/usr/bin/env bash
# make test: set up what the tests need, then run everything. The last line is pytest's own; exit 1 where anything failed.
# Coverage is asked for by itself (make coverage), since it doubles the time of every test that computes.
set -uo pipefail
cd "$(dirname "$0")/.."
. scripts/say.sh

failed=()

# stage NAME COMMAND...: run it, say how long it took, remember it when it failed.
stage() {
    local name=$1 began=$SECONDS
    shift
    say "$name"
    if "$@"; then say "$name: ok after $((SECONDS - began)) s"; else
        complain "$name: FAILED after $((SECONDS - began)) s"
        failed+=("$name")
    fi
}

set_up() {
    # Tests that need what is not here are skipped and say why, so none of these ends the run.
    scripts/debian.sh postgresql redis-server || true
    scripts/debian.sh chromium-headless-shell || scripts/debian.sh chromium || true
    if scripts/engine.sh; then
        if is_root; then scripts/debian.sh mmdebstrap || true; fi
        build_images
    else
        complain "Going on without an engine: tests marked docker are skipped."
    fi
}

# The images are found by the hash of their recipe, so the database that asks for them here may be a passing one.
build_images() {
    local room status=0
    room=$(mktemp -d)
    .venv/bin/python -m tests.migrated "$room" &&
        BENCHWRIGHT_DATA=$room .venv/bin/python manage.py build_environments || status=$?
    rm -rf "$room"
    return $status
}

# What needs Python alone. Returns 1 where anything failed, and says what.
check_code() {
    stage "ruff check" ruff check .
    stage "ruff format" ruff format --check .
    stage "mypy" mypy
    stage "import contracts" lint-imports
    stage "migrations" env BENCHWRIGHT_DATA="$(mktemp -d)" python manage.py makemigrations --check --dry-run
    if [ ${#failed[@]} -gt 0 ]; then complain "Failed before pytest: ${failed[*]}"; fi
    [ ${#failed[@]} -eq 0 ]
}

scripts/venv.sh dev || exit 1
export PATH="$PWD/.venv/bin:$PATH"
# Packages are fetched and images built meanwhile: one waits for the network and the disk, the other computes.
said=$(mktemp)
check_code >"$said" 2>&1 &
checks=$!
set_up
wait "$checks" || failed+=("code")
cat "$said" && rm -f "$said"

# Two cores are shared by containers, Chromium and the tests: two processes. What stays together, and in which turn, says
# tests/conftest.py; xdist itself would begin with the largest modules.
pytest -n "${TEST_PROCESSES:-2}" --dist loadgroup --no-loadscope-reorder "$@"
status=$?
[ ${#failed[@]} -eq 0 ] || exit 1
exit $status
