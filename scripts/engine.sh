#!/usr/bin/env bash
# See to it that a Docker engine answers: use the one there is, start one that is installed, install one as root.
# Exit 0 when an engine answers; exit 1 after saying exactly what to do when none can be had.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/say.sh

waits_seconds=60

# Print nothing and succeed when an engine answers, else print why not. Needs .venv.
trouble() {
    .venv/bin/python - <<'PYTHON'
import os, sys
import docker
try:
    docker.DockerClient(base_url=os.environ.get("DOCKER_HOST") or "unix:///var/run/docker.sock", timeout=10).ping()
except Exception as error:  # whatever it is, the reader wants to see it
    sys.exit(str(error))
PYTHON
}
answers() { trouble >/dev/null 2>&1; }

wait_for_engine() {
    local second
    for ((second = 0; second < waits_seconds; second++)); do
        if answers; then return 0; fi
        if [ -n "${1:-}" ] && ! kill -0 "$1" 2>/dev/null; then return 1; fi
        sleep 1
    done
    return 1
}

# Print the options that make crun the runtime: a container costs it less processor time than runc. An engine
# that is configured keeps its configuration.
runtime_options() {
    local crun
    if [ ! -e /etc/docker/daemon.json ] && crun=$(command -v crun); then
        echo "--add-runtime=crun=$crun --default-runtime=crun"
    fi
}

# start_by_hand OPTION...: run dockerd in the background, detached from this terminal; it goes on after we end.
start_by_hand() {
    local log
    log=$(data_dir)/dockerd.log
    mkdir -p "$(data_dir)"
    if command -v cgroupfs-mount >/dev/null; then cgroupfs-mount; fi
    say "Starting the Docker engine (log in $log)."
    # shellcheck disable=SC2046 - options, a word each
    setsid nohup dockerd $(runtime_options) "$@" </dev/null >>"$log" 2>&1 &
    wait_for_engine $!
}

start() {
    # Debian's package may have started one while it was installed.
    local running
    running=$(cat /run/docker.pid 2>/dev/null || true)
    if [ -n "$running" ] && wait_for_engine "$running"; then return 0; fi
    if has_systemd; then
        say "Starting the Docker engine by systemd."
        systemctl enable --now docker >/dev/null 2>&1 && wait_for_engine && return 0
    fi
    # Our containers have no network, so an engine that may not touch the firewall serves as well.
    start_by_hand || start_by_hand --iptables=false --ip6tables=false --bridge=none
}

install_engine() {
    local packages=(docker.io crun apparmor ca-certificates)
    if ! has_systemd; then packages+=(cgroupfs-mount); fi
    scripts/debian.sh "${packages[@]}"
}

say_what_to_do() {
    complain "No Docker engine answers: $(trouble 2>&1 >/dev/null | tail -n 1)"
    if [ -n "${DOCKER_HOST:-}" ]; then
        complain "DOCKER_HOST points to $DOCKER_HOST: start the engine there, or unset it to use this machine's."
    elif is_root; then
        complain "dockerd did not come up; the end of $(data_dir)/dockerd.log says why. Inside a container, start that"
        complain "container privileged, or set DOCKER_HOST to an engine outside."
    elif command -v dockerd >/dev/null; then
        complain "Ask an administrator for: systemctl start docker && usermod -aG docker $(id -un)   (then sign in again)"
    else
        complain "Ask an administrator for: apt-get install docker.io crun mmdebstrap && usermod -aG docker $(id -un)"
        complain "(then sign in again), or set DOCKER_HOST to an engine you may use."
    fi
}

if answers; then exit 0; fi
if [ -z "${DOCKER_HOST:-}" ] && is_root; then
    if command -v dockerd >/dev/null || install_engine; then
        if start; then exit 0; fi
    fi
fi
say_what_to_do
exit 1
