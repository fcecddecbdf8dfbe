"""Which account serves pages: never root where that can be helped."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path

from config.openings import entrance_for, setpriv

NAME = "benchwright"


@dataclass(frozen=True)
class Account:
    """An unprivileged account of this host. `entrance` are the words before a command that is to run under it."""

    name: str
    uid: int
    gid: int
    entrance: tuple[str, ...] = ()


def web_account(data: Path, *, clone: Path) -> Account | None:
    """Return the account that is to serve, with the data directory made its own; None when not started as root.

    A clone in a directory that is closed to the account, such as root's home, is opened to its processes alone
    (openings.py). None where that cannot be had either: then a line says so, and what to do.
    """
    if os.geteuid() != 0:
        return None
    account = _account(os.environ.get("BENCHWRIGHT_USER", NAME))
    if account is None:
        _warn("there is no account to serve from, and useradd is not installed")
        return None
    _own(data, account)
    needs = [clone, data, Path(sys.prefix), Path(sys.base_prefix)]
    for entrance in (setpriv(account.uid, account.gid), entrance_for(account.uid, account.gid, needs)):
        entering = replace(account, entrance=tuple(entrance))
        if entrance and _can_serve(entering, clone):
            return entering
    _warn(f"the account {account.name} cannot read {clone}, {data} or the Python of {sys.prefix}")
    return None


def _account(name: str) -> Account | None:
    """Return the account of that name, made where absent; None where none can be made."""
    try:
        found = pwd.getpwnam(name)
    except KeyError:
        if shutil.which("useradd") is None:
            return None
        made = [
            "useradd",
            "--system",
            "--user-group",
            "--no-create-home",
            "--shell",
            "/usr/sbin/nologin",
            name,
        ]
        subprocess.run(made, check=True)
        found = pwd.getpwnam(name)
    return Account(name, found.pw_uid, found.pw_gid)


def _own(data: Path, account: Account) -> None:
    """Give the account everything in the data directory; links are not followed."""
    for folder, folders, files in os.walk(data):
        for path in [Path(folder), *(Path(folder) / name for name in [*folders, *files])]:
            if path.lstat().st_uid != account.uid:
                os.chown(path, account.uid, account.gid, follow_symlinks=False)


def _can_serve(account: Account, clone: Path) -> bool:
    """Return whether the account can run this Python on this clone and read the settings."""
    command = [*account.entrance, sys.executable, "-c", "import django, config.settings"]
    try:
        return subprocess.run(command, cwd=clone, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def _warn(why: str) -> None:
    """Say why pages are served by root."""
    print(
        f"benchwright: WARNING: pages are served by root, since {why}. Put the clone where every account can read it "
        "(such as /opt or /srv), or start as an ordinary user who is in the group docker.",
        file=sys.stderr,
        flush=True,
    )
