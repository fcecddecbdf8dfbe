"""How root's processes enter an unprivileged account, also where what they need lies in a directory closed to it.

A clone in root's home, or in a directory made by mktemp, cannot be reached by another account. The processes of the
account then get a view of their own (a mount namespace): the closed directory is replaced by an empty one that holds
only what they need. Nothing changes for anybody else, and the rest of the closed directory stays closed to them.
"""

from __future__ import annotations

import shutil
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from shlex import quote

STAGES = (Path("/mnt"), Path("/media"), Path("/srv"))
SEARCH_OWNER, SEARCH_GROUP, SEARCH_OTHERS = 0o100, 0o010, 0o001

# $1 is the directory of the command; stage, closed directories and needs are written in by `entrance_for`.
SCRIPT = """
set -e
here=$1; shift
mount -t tmpfs -o mode=755 none {stage}
{take}
{close}
{give}
umount {stage}
cd "$here"
exec "$@"
"""


def setpriv(uid: int, gid: int) -> list[str]:
    """Return the words that let a command run as the account, end with its parent, and gain no rights."""
    found = shutil.which("setpriv")
    if found is None:
        return []
    who = [f"--reuid={uid}", f"--regid={gid}", "--clear-groups"]
    return [found, *who, "--no-new-privs", "--pdeathsig=TERM", "--"]


def entrance_for(uid: int, gid: int, needs: Iterable[Path]) -> list[str]:
    """Return the words that do the same in a view where the needed directories can be reached; [] where it cannot be."""
    closed = _closed(uid, gid, needs)
    paths = sorted({path for found in closed.values() for path in found})
    stage = next(
        (one for one in STAGES if one.is_dir() and not any(p.is_relative_to(one) for p in paths)), None
    )
    if not paths or stage is None or shutil.which("unshare") is None or not (enter := setpriv(uid, gid)):
        return []
    script = SCRIPT.format(
        stage=stage,
        take="\n".join(
            f"mkdir {stage}/{n}; mount --rbind {quote(str(path))} {stage}/{n}" for n, path in enumerate(paths)
        ),
        close="\n".join(f"mount -t tmpfs -o mode=755 none {quote(str(one))}" for one in closed),
        give="\n".join(
            f"mkdir -p {quote(str(path))}; mount --move {stage}/{n} {quote(str(path))}"
            for n, path in enumerate(paths)
        ),
    )
    return [
        "unshare",
        "--mount",
        "--propagation",
        "private",
        "sh",
        "-c",
        script,
        "sh",
        str(Path.cwd()),
        *enter,
    ]


def _closed(uid: int, gid: int, needs: Iterable[Path]) -> dict[Path, list[Path]]:
    """Return the outermost directories that the account may not enter, each with what is needed of it."""
    found: dict[Path, list[Path]] = defaultdict(list)
    for path in sorted({need.resolve() for need in needs}):
        for folder in reversed(path.parents):
            if not _may_enter(folder, uid, gid):
                if not any(path.is_relative_to(other) for other in found[folder]):
                    found[folder].append(path)
                break
    return dict(found)


def _may_enter(folder: Path, uid: int, gid: int) -> bool:
    """Return whether the account may search the directory."""
    status = folder.stat()
    if status.st_uid == uid:
        return bool(status.st_mode & SEARCH_OWNER)
    if status.st_gid == gid:
        return bool(status.st_mode & SEARCH_GROUP)
    return bool(status.st_mode & SEARCH_OTHERS)
