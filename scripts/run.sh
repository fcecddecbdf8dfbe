#!/usr/bin/env bash
# make run: from whatever state this clone and this machine are in to a serving site. Every step looks first whether
# its work is done, so that stopping it anywhere and starting it again is always right.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/say.sh

export HOST=${HOST:-127.0.0.1} PORT=${PORT:-8000}
case $HOST in 0.0.0.0 | ::) nearby=127.0.0.1 ;; *) nearby=$HOST ;; esac
export SITE_URL=${SITE_URL:-http://$nearby:$PORT}

port_is_free() { ! (exec 3<>"/dev/tcp/$nearby/$PORT") 2>/dev/null; }

if ! port_is_free; then
    complain "Something already listens on $HOST:$PORT. Stop it, or choose another port: make run PORT=8001"
    exit 1
fi

scripts/venv.sh
engine=yes
scripts/engine.sh || engine=no
if [ "$engine" = yes ] && is_root; then scripts/debian.sh mmdebstrap || true; fi

if [ "$engine" = yes ]; then
    .venv/bin/python manage.py prepare_site
    # The demo's checks run in the worker; whoever looks at this terminal sees them end and the demo study open.
    setpriv --pdeathsig TERM -- .venv/bin/python manage.py open_demo_study </dev/null &
else
    complain "Going on without an engine: pages work, nothing can be executed, and a banner says so on every page."
    .venv/bin/python manage.py prepare_site --without-engine
fi

say "Starting the site at $SITE_URL/ (Ctrl-C stops it; make passwords makes new passwords)."
exec .venv/bin/python -m config.serve
