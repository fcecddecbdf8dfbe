#!/usr/bin/env bash
# make run: from whatever state this clone and this machine are in to a serving site. Every step looks first whether
# its work is done, so that stopping it anywhere and starting it again is always right.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/say.sh

export HOST=${HOST:-127.0.0.1} PORT=${PORT:-8000}

port_is_free() { ! (exec 3<>"/dev/tcp/$HOST/$PORT") 2>/dev/null; }

if ! port_is_free; then
    complain "Something already listens on $HOST:$PORT. Stop it, or choose another port: make run PORT=8001"
    exit 1
fi

scripts/venv.sh
engine=yes
scripts/engine.sh || engine=no
if [ "$engine" = yes ] && is_root; then scripts/debian.sh mmdebstrap || true; fi

.venv/bin/python manage.py prepare_site
if [ "$engine" = yes ]; then
    .venv/bin/python manage.py build_environments ||
        complain "Not every environment could be built (see above): what needs it stays unchecked. make run tries again."
else
    complain "Going on without an engine: pages work, nothing can be executed, and a banner says so on every page."
fi
.venv/bin/python manage.py prepare_demo

# The demo's checks run in the worker; whoever looks at the terminal sees them end and the demo study open.
setpriv --pdeathsig TERM -- .venv/bin/python manage.py prepare_demo --open-study &
say "Serving http://$HOST:$PORT/   (Ctrl-C stops it; new passwords: make passwords)"
exec .venv/bin/python -m config.serve
