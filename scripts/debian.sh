#!/usr/bin/env bash
# debian.sh PACKAGE...: install those that are absent. Exit 1 with what to do where we may not or cannot.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/say.sh

missing=()
for package in "$@"; do
    if [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" != installed ]; then
        missing+=("$package")
    fi
done
if [ ${#missing[@]} -eq 0 ]; then exit 0; fi

if ! command -v apt-get >/dev/null; then
    complain "Not a Debian system. Please install by hand what Debian calls: ${missing[*]}"
    exit 1
fi
if ! is_root; then
    complain "Not root, so this is yours to do: sudo apt-get install --no-install-recommends ${missing[*]}"
    exit 1
fi

log=$(data_dir)/apt.log
mkdir -p "$(data_dir)"
say "Installing from Debian: ${missing[*]} (log in $log)."
export DEBIAN_FRONTEND=noninteractive
install() { apt-get install -y --no-install-recommends "${missing[@]}" </dev/null >>"$log" 2>&1; }
# The package lists of a fresh machine are empty, those of an old one stale; fetch them only when it matters.
if ! install; then
    apt-get update </dev/null >>"$log" 2>&1 || true
    if ! install; then
        tail -n 15 "$log" >&2
        complain "apt-get could not install ${missing[*]}; the lines above are the end of $log."
        exit 1
    fi
fi
