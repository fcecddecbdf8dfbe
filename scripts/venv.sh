#!/usr/bin/env bash
# Make .venv hold what requirements.txt pins, and with "dev" what requirements-dev.txt pins; every file is checked
# against its hash. Where a stamp says that this is so already, nothing is done.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/say.sh

# As root the system's Python comes first: the site is served from an unprivileged account, which could not run one
# that lives in root's home.
python_to_use() {
    local candidates=(python3.11 python3) name
    if is_root; then candidates=(/usr/bin/python3.11 /usr/bin/python3 "${candidates[@]}"); fi
    for name in ${PYTHON:+"$PYTHON"} "${candidates[@]}"; do
        if "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            printf '%s' "$name"
            return
        fi
    done
    complain "Python 3.11 or newer is needed and was not found. Debian 12: apt-get install python3 python3-venv"
    return 1
}

make_venv() {
    local python
    python=$(python_to_use)
    if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
        scripts/debian.sh python3-venv || return 1
    fi
    say "Making .venv with $("$python" --version)."
    rm -rf .venv
    "$python" -m venv .venv
}

# install FILE: what FILE pins is in .venv afterwards; the stamp is the file's hash and is written last.
install() {
    local file=$1 stamp=.venv/.installed-$1 hash total
    hash=$(sha256sum "$file" | cut -d' ' -f1)
    if [ "$(cat "$stamp" 2>/dev/null)" = "$hash" ]; then return; fi
    total=$(grep -c '^[A-Za-z0-9].*==' "$file")
    say "Installing the $total packages of $file, each checked against its hash."
    .venv/bin/python -m pip install --disable-pip-version-check --progress-bar off --require-hashes -r "$file" |
        count_collected "$total"
    printf '%s\n' "$hash" >"$stamp"
}

# Turn pip's lines into one line of progress every ten packages; the end of a failure is told by pip on stderr.
count_collected() {
    local line seen=0
    while read -r line; do
        case $line in
        Collecting\ * | Processing\ * | Requirement\ already*)
            seen=$((seen + 1))
            if [ $((seen % 10)) -eq 0 ]; then printf '  %s of %s looked up\n' "$seen" "$1"; fi
            ;;
        Installing\ collected*) printf '  all fetched; unpacking\n' ;;
        esac
    done
}

if ! .venv/bin/python -c 'import pip' 2>/dev/null; then make_venv; fi
install requirements.txt
if [ "${1:-}" = dev ]; then install requirements-dev.txt; fi
