"""Which account serves pages: never root where that can be helped."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

NAME = "benchwright"


@dataclass(frozen=True)
class Account:
    """An unprivileged account of this host."""

    name: str
    uid: int
    gid: int


def web_account(data: Path, *, clone: Path) -> Account | None:
    """Return the account that is to serve, with the data directory made its own; None when not started as root.

    None also where the account cannot read this clone, as in root's home: then a line says so, and what to do.
    """
    if os.geteuid() != 0:
        return None
    account = _account(os.environ.get("BENCHWRIGHT_USER", NAME))
    if account is None:
        _warn("there is no account to serve from, and useradd is not installed")
        return None
    _own(data, account)
    if not _can_serve(account, clone):
        _warn(f"the account {account.name} cannot read {clone}, {data} or the Python of {sys.prefix}")
        return None
    return account


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
    try:
        tried = subprocess.run(
            [sys.executable, "-c", "import django, config.settings"],
            cwd=clone,
            user=account.uid,
            group=account.gid,
            extra_groups=[],
            capture_output=True,
            check=False,
        )
    except PermissionError:
        return False
    return tried.returncode == 0


def _warn(why: str) -> None:
    """Say why pages are served by root."""
    print(
        f"benchwright: WARNING: pages are served by root, since {why}. Put the clone where every account can read it "
        "(such as /opt or /srv), or start as an ordinary user who is in the group docker.",
        file=sys.stderr,
        flush=True,
    )
