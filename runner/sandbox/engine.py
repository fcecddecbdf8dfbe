"""The Docker engine as we use it: every call with a timeout, every fault as SandboxUnavailable with a plain reason."""

from __future__ import annotations

import os
import platform
import secrets
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import docker
import docker.errors
import requests
import structlog

from runner.languages.pid_one import CODE
from runner.sandbox.base import HostUnfit, ImageAbsent, NotBegun, NotStarted, SandboxUnavailable
from runner.sandbox.settings import LABEL, BoxSettings, create_options
from runner.sandbox.stream import BoxStream, Frame, StreamTimeout

CALL_SECONDS = 20
START_SECONDS = 30.0
STUCK_SECONDS = 2 * CALL_SECONDS + START_SECONDS
POOL_LIFE_SECONDS = 24 * 3600
DIGEST = "sha256:"
NO_ROOM = "no space left on device"
OWNER_LABEL, KEEPER_LABEL, DEADLINE_LABEL = f"{LABEL}.owner", f"{LABEL}.keeper", f"{LABEL}.deadline"

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Owner:
    """The process that started a box: host, process id, and when it began, so that a reused id is told apart."""

    host: str
    process: int
    began: str

    @classmethod
    def this_process(cls) -> Owner:
        """Return the owner that stands for the calling process."""
        return cls(platform.node(), os.getpid(), _process_began(os.getpid()))

    @classmethod
    def parse(cls, text: str) -> Owner | None:
        """Return the owner written by `str()`, None for any other text."""
        host, _, rest = text.rpartition("/")
        number, _, began = rest.partition("-")
        return cls(host, int(number), began) if host and number.isdigit() and began else None

    def __str__(self) -> str:
        return f"{self.host}/{self.process}-{self.began}"

    def is_gone(self) -> bool:
        """Return whether the process has certainly ended; one on another host may be alive."""
        return self.host == platform.node() and _process_began(self.process) != self.began


def _process_began(process: int) -> str:
    """Return when a process started, in clock ticks since boot with the boot's id; "" when there is none."""
    with suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text()[:8]
        return f"{boot}.{Path(f'/proc/{process}/stat').read_text().rpartition(')')[2].split()[19]}"
    return ""


@dataclass
class Box:
    """A started container whose supervisor waits for its one job."""

    id: str
    name: str
    settings: BoxSettings
    stream: BoxStream
    facts: dict[str, str]
    started: float


def _any_name() -> str:
    return f"benchwright-{secrets.token_hex(8)}"


@contextmanager
def plainly(doing: str) -> Iterator[None]:
    """Turn whatever the engine, its client or the socket raises into SandboxUnavailable, HostUnfit where it is away."""
    try:
        yield
    except docker.errors.ImageNotFound as error:
        raise ImageAbsent(f"{doing}: the image is not on this host; build the environment first.") from error
    except docker.errors.APIError as error:
        said = str(error.explanation or error)
        kind = HostUnfit if NO_ROOM in said else SandboxUnavailable
        raise kind(f"{doing}: the engine answered: {said}") from error
    except requests.exceptions.Timeout as error:
        raise HostUnfit(f"{doing}: the engine did not answer in {CALL_SECONDS} s.") from error
    except (docker.errors.DockerException, requests.exceptions.RequestException, OSError) as error:
        raise HostUnfit(f"{doing}: no engine can be reached ({error}).") from error


class Engine:
    """Starts, kills, renames and reaps boxes. Safe to use from several threads."""

    def __init__(self, *, base_url: str | None = None, runtime: str = "", owner: Owner | None = None) -> None:
        self.base_url = base_url
        self.runtime = runtime
        self.owner = owner or Owner.this_process()
        # What pid 1 executes, as the Python of an image compiled it: by image and texts.
        self._compiled: dict[tuple[str, str], bytes] = {}

    @cached_property
    def api(self) -> docker.APIClient:
        """Return the client; made on first use, so that an absent engine is a fault of the run, not of the import."""
        with plainly("Connecting to the engine"):
            url = self.base_url or os.environ.get("DOCKER_HOST")
            client = docker.APIClient(base_url=url, version="auto", timeout=CALL_SECONDS)
            # requests walks os.environ for proxies at every call: slow, wrong for a local socket, and a
            # KeyError when another thread removes a variable in the middle of it.
            client.trust_env = False
            return client

    @cached_property
    def facts(self) -> dict[str, str]:
        """Return what to record about the host beside every outcome."""
        with plainly("Asking the engine for its version"):
            version = self.api.version()
            runtime = self.runtime or self.api.info()["DefaultRuntime"]
        return {
            "engine": str(version["Version"]),
            "kernel": str(version["KernelVersion"]),
            "host": platform.node(),
            "runtime": str(runtime),
        }

    def image_id(self, image: str) -> str:
        """Return the digest of an image on this host. Raises SandboxUnavailable when it is absent."""
        with plainly(f"Looking for the image {image}"):
            found: dict[str, object] = self.api.inspect_image(image)  # type: ignore[no-untyped-call]
            return str(found["Id"])

    def start(
        self, settings: BoxSettings, *, keeper: str, name: str = "", life_seconds: float = POOL_LIFE_SECONDS
    ) -> Box:
        """Create and start a box and wait until its supervisor is ready; one that ends before is followed by another.

        `keeper` is the sandbox that answers for the box; `life_seconds` is when the reaper may take it. Raises
        HostUnfit at once, and NotStarted where the second does not come up either.
        """
        try:
            return self._start(settings, keeper, name or _any_name(), life_seconds)
        except NotBegun:
            raise
        except SandboxUnavailable as error:
            log.warning("engine.box_did_not_start", image=settings.image, reason=str(error))
        try:
            if name:
                self._wait_until_removed(name)
            return self._start(settings, keeper, name or _any_name(), life_seconds)
        except NotBegun:
            raise
        except SandboxUnavailable as error:
            raise NotStarted(f"A box did not start. {error}") from error

    def _start(self, settings: BoxSettings, keeper: str, name: str, life_seconds: float) -> Box:
        host = self.facts | {"image": settings.image}
        with plainly(f"Starting a box from {settings.image}"):
            box_id = self._create(settings, name, self._labels(keeper, life_seconds))
        stream = None
        try:
            with plainly("Starting the box"):
                stream = self._attach(box_id)
                self.api.start(box_id)
            ready = self._begin(stream, settings)
        except SandboxUnavailable as error:
            how = self.how_it_ended(box_id)
            if stream is not None:
                stream.close()
            self.remove(box_id)
            if isinstance(error, NotBegun) or not how:
                raise
            raise SandboxUnavailable(f"{error} {how}") from error
        facts = {key: str(value) for key, value in ready.items() if key != "kind"}
        return Box(box_id, name, settings, stream, host | facts, time.monotonic())

    def _create(self, settings: BoxSettings, name: str, labels: dict[str, str]) -> str:
        return str(self.api.create_container(**create_options(self.api, settings, name, labels))["Id"])

    def _labels(self, keeper: str, life_seconds: float) -> dict[str, str]:
        deadline = str(int(time.time() + life_seconds))
        return {OWNER_LABEL: str(self.owner), KEEPER_LABEL: keeper, DEADLINE_LABEL: deadline}

    def _attach(self, box_id: str) -> BoxStream:
        attached = self.api.attach_socket(box_id, params={"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1})
        connection: socket.socket = getattr(attached, "_sock", attached)
        # The client's response may close the socket when the garbage collector finalises it before its own parts.
        return BoxStream(connection, kept=attached)

    def _begin(self, stream: BoxStream, settings: BoxSettings) -> Frame:
        """Send pid 1 what it executes, and return what it says once it is ready.

        The first box of an image sends its code back, which serves the next ones: no program has run in it by then.
        """
        pid_one = settings.pid_one
        key = settings.image, pid_one.digest
        stream.send(self._compiled.get(key, pid_one.source), timeout=CALL_SECONDS)
        frame = self._ready(stream)
        if frame["kind"].encode() != CODE:
            return frame
        if settings.image.startswith(DIGEST):  # what a tag names may be another Python tomorrow
            self._compiled[key] = CODE + frame["data"]
        return self._ready(stream)

    def _ready(self, stream: BoxStream) -> Frame:
        try:
            return stream.receive(until=time.monotonic() + START_SECONDS)
        except StreamTimeout:
            raise SandboxUnavailable(f"The box was not ready within {START_SECONDS:.0f} s.") from None

    def how_it_ended(self, box_id: str) -> str:
        """Return what the engine says of the end of a box that should be running; "" where it says nothing."""
        with suppress(SandboxUnavailable), plainly("Asking how a box ended"):
            state = self.api.inspect_container(box_id)["State"]
            memory = ", killed for memory" if state["OOMKilled"] else ""
            return f"It is {state['Status']}, exit code {state['ExitCode']}{memory}. {state['Error']}".strip()
        return ""

    def _wait_until_removed(self, name: str) -> None:
        """Wait until the name of a box that is going is free. Raises SandboxUnavailable."""
        with plainly("Waiting until a box is removed"), suppress(docker.errors.NotFound):
            self.api.wait(name, timeout=CALL_SECONDS, condition="removed")

    def rename(self, box: Box, name: str) -> None:
        """Give a running box another name; nothing happens when it has ended meanwhile."""
        self._quietly(lambda: self.api.rename(box.id, name))
        box.name = name

    def kill(self, box: Box) -> bool:
        """Kill a box at once and return whether the engine says that it ran until then."""
        return self._quietly(lambda: self.api.kill(box.id))

    def dispose(self, box: Box) -> None:
        """Close our end of a box and make sure its container is gone."""
        box.stream.close()
        self.remove(box.id)

    def remove(self, box_id: str) -> None:
        """Kill and remove a container by id or name; one that is gone or going is fine."""
        self._quietly(lambda: self.api.remove_container(box_id, force=True, v=True))

    def _quietly(self, call: Callable[[], object]) -> bool:
        """Do a call whose failure the caller outlives, since the label reaper comes by later; return whether it was done."""
        with suppress(
            docker.errors.DockerException, requests.exceptions.RequestException, OSError, SandboxUnavailable
        ):
            call()
            return True
        return False

    def reap(self) -> list[str]:
        """Remove every box whose owner has ended, whose deadline has passed, or that was never started.

        The last is what a call leaves that the engine carried out after we had stopped waiting for it. Returns names.
        """
        with plainly("Listing boxes"):
            found = self.api.containers(all=True, filters={"label": OWNER_LABEL})
        removed = []
        for container in found:
            owner = Owner.parse(container["Labels"].get(OWNER_LABEL, ""))
            deadline = container["Labels"].get(DEADLINE_LABEL, "")
            overdue = not deadline.isdigit() or int(deadline) < time.time()
            stuck = container["State"] == "created" and container["Created"] < time.time() - STUCK_SECONDS
            if owner is None or owner.is_gone() or overdue or stuck:
                self.remove(container["Id"])
                removed.append(
                    str(container["Names"][0]).lstrip("/") if container["Names"] else container["Id"]
                )
        return removed

    def images(self) -> dict[str, int]:
        """Return the images on this host: digest to size in bytes. Raises SandboxUnavailable."""
        with plainly("Listing images"):
            return {str(image["Id"]): int(image["Size"]) for image in self.api.images()}

    def boxes(self, keeper: str = "") -> list[str]:
        """Return the ids of the boxes on this engine, of one keeper or of all."""
        label = f"{KEEPER_LABEL}={keeper}" if keeper else OWNER_LABEL
        with plainly("Listing boxes"):
            return [
                str(container["Id"]) for container in self.api.containers(all=True, filters={"label": label})
            ]

    def remove_all(self, keeper: str, *, seconds: float = 15.0) -> None:
        """Remove every box of a keeper and wait until the engine has forgotten them. Raises SandboxUnavailable."""
        until = time.monotonic() + seconds
        while boxes := self.boxes(keeper):
            for box_id in boxes:
                self.remove(box_id)
            if time.monotonic() > until:
                raise SandboxUnavailable(f"{len(boxes)} boxes could not be removed within {seconds:.0f} s.")
            time.sleep(0.05)

    def close(self) -> None:
        """Close the client's connections."""
        if "api" in self.__dict__:
            self.api.close()
