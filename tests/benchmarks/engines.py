"""Docker engines of a drill's own, which it may stop, fill up and kill: never the engine that others use.

Each keeps everything in a memory file system of a bounded size, and has no network; only root may start one.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import docker

from tests.services import wait_until

SIZE = "1200m"
LABEL = "org.benchwright.owner"


def cannot() -> str:
    """Return why no engine can be started here, "" where one can."""
    if os.geteuid() != 0:
        return "only root may start an engine"
    missing = [name for name in ("dockerd", "mount", "docker") if not shutil.which(name)]
    return f"not installed: {', '.join(missing)}" if missing else ""


@dataclass
class OwnEngine:
    """An engine in a directory of its own."""

    room: Path
    process: subprocess.Popen[bytes] | None = None

    @property
    def path(self) -> Path:
        """The socket that it listens on."""
        return self.room / "docker.sock"

    @property
    def url(self) -> str:
        """What DOCKER_HOST is to be."""
        return f"unix://{self.path}"

    @property
    def client(self) -> docker.DockerClient:
        """A client of it."""
        return docker.DockerClient(base_url=self.url, timeout=60)

    def start(self) -> None:
        """Start it and wait until it answers."""
        command = ["dockerd", "-H", self.url, "--bridge=none", "--iptables=false", "--shutdown-timeout=1"]
        command += [f"--data-root={self.room}/data/root", f"--exec-root={self.room}/exec"]
        command += [f"--pidfile={self.room}/pid", "--log-level=error"]
        with (self.room / "log").open("ab") as out:
            ended = ["setpriv", "--pdeathsig", "TERM", "--"]
            self.process = subprocess.Popen([*ended, *command], stdout=out, stderr=out)
        wait_until(self.answers, "the engine", process=self.process, log=self.room / "log")

    def answers(self) -> bool:
        """Return whether it answers."""
        try:
            return bool(docker.DockerClient(base_url=self.url, timeout=5).ping())
        except Exception:
            return False

    def end(self, number: int = signal.SIGTERM) -> None:
        """End it by this signal and wait until it is gone."""
        if self.process is not None:
            self.process.send_signal(number)
            self.process.wait(60)

    def load(self, archive: Path) -> None:
        """Load the images of an archive."""
        with archive.open("rb") as images:
            subprocess.run(
                ["docker", "-H", self.url, "load", "-q"], stdin=images, check=True, stdout=subprocess.DEVNULL
            )

    def boxes(self) -> list[Any]:
        """Return the containers of workers that it has, running or not."""
        found = self.client.api.containers(all=True, filters={"label": LABEL})
        return list(found)

    def lose_image(self, image: str) -> None:
        """Remove the image, and every box that uses it, as often as that takes."""
        for _ in range(200):
            for box in self.boxes():
                with suppress(docker.errors.APIError):
                    self.client.api.remove_container(box["Id"], force=True)
            with suppress(docker.errors.ImageNotFound):
                try:
                    self.client.api.remove_image(image, force=True)
                except docker.errors.ImageNotFound:
                    return
                except docker.errors.APIError:
                    time.sleep(0.02)
        raise RuntimeError("The image could not be removed.")

    @contextmanager
    def full(self) -> Iterator[None]:
        """Let its disk be full until the block ends."""
        filler = self.room / "data" / "filler"
        with filler.open("wb", buffering=0) as out:
            for piece in (1 << 20, 1 << 12):
                with suppress(OSError):
                    while out.write(b"x" * piece) == piece:
                        pass
        try:
            yield
        finally:
            filler.unlink()


@contextmanager
def engine(room: Path, archive: Path | None = None) -> Iterator[OwnEngine]:
    """Give an engine that runs, with the images of the archive; it and its directory are gone when the block ends."""
    (room / "data").mkdir(parents=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(room / "data")], check=True)
    made = OwnEngine(room)
    try:
        made.start()
        if archive:
            made.load(archive)
        yield made
    finally:
        _clear(made)


def _clear(made: OwnEngine) -> None:
    """End the engine with all that it has started, and unmount what is mounted below its directory."""
    with suppress(Exception):
        if made.process is not None and made.process.poll() is not None:
            made.start()  # an engine that was killed has left its containers
        for box in made.client.api.containers(all=True):
            made.client.api.remove_container(box["Id"], force=True)
    if made.process is not None and made.process.poll() is None:
        made.end()
    mounts = [line.split()[1] for line in Path("/proc/mounts").read_text().splitlines()]
    for mount in sorted((m for m in mounts if m.startswith(f"{made.room}/")), reverse=True):
        subprocess.run(["umount", "-l", mount], check=False)


@dataclass
class Proxy:
    """A socket in front of an engine's that can stop answering: what is open hangs, and what is opened hangs as well."""

    path: Path
    behind: Path
    frozen: threading.Event = field(default_factory=threading.Event)

    @property
    def url(self) -> str:
        """What DOCKER_HOST is to be."""
        return f"unix://{self.path}"

    def serve(self) -> None:
        """Listen in a thread for as long as this process lives."""
        listening = socket.socket(socket.AF_UNIX)
        listening.bind(str(self.path))
        listening.listen(128)
        threading.Thread(target=self._accept, args=[listening], daemon=True).start()

    def _accept(self, listening: socket.socket) -> None:
        while True:
            here, _ = listening.accept()
            threading.Thread(target=self._connect, args=[here], daemon=True).start()

    def _connect(self, here: socket.socket) -> None:
        there = socket.socket(socket.AF_UNIX)
        there.connect(str(self.behind))
        threading.Thread(target=self._pump, args=[here, there], daemon=True).start()
        self._pump(there, here)

    def _pump(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(1 << 16):
                while self.frozen.is_set():
                    time.sleep(0.05)
                target.sendall(data)
        with suppress(OSError):
            target.shutdown(socket.SHUT_WR)
