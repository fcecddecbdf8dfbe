# Words and questions that the other scripts share; sourced, never run.

say() { printf '%s\n' "benchwright: $*"; }
complain() { printf '%s\n' "benchwright: $*" >&2; }

is_root() { [ "$(id -u)" -eq 0 ]; }
has_systemd() { [ -d /run/systemd/system ]; }

# Where everything that outlives a restart is kept; the same rule as in config/settings.py.
data_dir() { printf '%s' "${BENCHWRIGHT_DATA:-$PWD/var}"; }
