"""Makes a base image from Debian packages, for hosts where no registry answers."""

from __future__ import annotations

import shutil
import subprocess
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import docker

from runner.environments.recipe import SUITE, BuildFailed
from runner.environments.workroom import workroom

MAKE_SECONDS = 600
PACKAGES = "python3,python3-pip,ca-certificates"
LEFT_OUT = ("/usr/share/doc/*", "/usr/share/man/*", "/usr/share/locale/*", "/usr/share/info/*")
HOOKS = (
    'rm -rf "$1"/var/lib/apt/lists/* "$1"/var/cache/apt/* "$1"/var/log/*',
    'find "$1" -xdev -perm /6000 -type f -exec chmod a-s {} +',
    'mkdir -p "$1"/work',
)
STEP = "I: "
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")


def import_debian(
    client: docker.DockerClient,
    tag: str,
    labels: dict[str, str],
    *,
    suite: str = SUITE,
    packages: Sequence[str] = (),
    progress: Callable[[str], None] = lambda _: None,
) -> None:
    """Make a small Debian of that suite with Python and further packages, and import it as an image of that tag.

    Raises BuildFailed.
    """
    if shutil.which("mmdebstrap") is None:
        raise BuildFailed("mmdebstrap is not installed. As root: apt-get install mmdebstrap")
    with workroom() as folder:
        archive = folder / "base.tar"
        _make(archive, suite, packages, progress)
        changes = ["ENV PATH=/usr/local/bin:/usr/bin:/bin", 'CMD ["python3"]']
        changes += [f'LABEL "{name}"="{value}"' for name, value in labels.items()]
        repository, _, version = tag.rpartition(":")
        client.api.import_image_from_file(str(archive), repository=repository, tag=version, changes=changes)


def keyring() -> list[str]:
    """Return mmdebstrap's option that names Debian's keys, where this host has them in their usual place."""
    return [f"--keyring={KEYRING}"] if KEYRING.exists() else []


def _make(archive: Path, suite: str, packages: Sequence[str], progress: Callable[[str], None]) -> None:
    """Make the archive; `progress` hears each step. Raises BuildFailed."""
    included = ",".join([PACKAGES, *packages])
    # It ends with us: it clears its own folder when it is told to.
    command = ["setpriv", "--pdeathsig", "TERM", "--", "mmdebstrap", "--variant=minbase"]
    command += [f"--include={included}"]
    command += ["--aptopt=APT::Install-Recommends false"]
    command += [f"--dpkgopt=path-exclude={path}" for path in LEFT_OUT]
    command += [f"--customize-hook={hook}" for hook in HOOKS]
    command += keyring()
    said: list[str] = []
    with subprocess.Popen(
        [*command, suite, str(archive)], stderr=subprocess.PIPE, text=True, errors="replace"
    ) as making:
        late = threading.Timer(MAKE_SECONDS, making.kill)
        late.start()
        for line in making.stderr or ():
            said.append(line.rstrip())
            if line.startswith(STEP):
                progress(f"mmdebstrap: {line.removeprefix(STEP).strip()}")
        code = making.wait()
        in_time = late.is_alive()
        late.cancel()
    if code and not in_time:
        raise BuildFailed(f"The Debian mirror was too slow ({MAKE_SECONDS} s). Try again later.")
    if code:
        tail = "\n".join(line for line in said if not line.startswith(STEP))[-800:]
        raise BuildFailed(
            f"mmdebstrap failed: {tail}\nIt needs the Debian mirror, and root or unprivileged user namespaces."
        )
