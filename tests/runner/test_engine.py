"""The engine's side: hardened settings, the reaper, and what a killed worker leaves."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress

import docker.errors
import pytest
import requests

from runner.environments.building import BuiltImage
from runner.languages import LanguageUnknown, language
from runner.sandbox.base import Limits, SandboxUnavailable
from runner.sandbox.engine import KEEPER_LABEL, Box, Engine, Owner, plainly
from runner.sandbox.rows import plain_text, storable
from runner.sandbox.settings import ACCOUNTS, BoxSettings, seccomp
from runner.sandbox.stream import BoxStream, Frame
from tests.services import wait_until

KEEPER = f"test-{os.getpid()}"


@pytest.fixture
def box(engine: Engine, plain: BuiltImage) -> Iterator[Box]:
    """A waiting box."""
    settings = BoxSettings.of(plain.digest, language("python"), 0, Limits.for_cpu(1))
    box = engine.start(settings, keeper=KEEPER)
    yield box
    engine.dispose(box)
    engine.remove_all(KEEPER)


@pytest.mark.docker
def test_a_call_asks_the_environment_for_no_proxy(
    engine: Engine, plain: BuiltImage, monkeypatch: pytest.MonkeyPatch
) -> None:
    def asked(*_: object, **__: object) -> dict[str, str]:
        raise KeyError("a variable that another thread has removed")

    monkeypatch.setattr("requests.sessions.get_environ_proxies", asked)
    assert engine.image_id(plain.digest) == plain.digest


@pytest.mark.docker
def test_every_hardening_the_settings_ask_for_is_in_force(engine: Engine, box: Box) -> None:
    seen = engine.api.inspect_container(box.id)
    host = seen["HostConfig"]
    wanted = {
        "NetworkMode": "none", "ReadonlyRootfs": True, "CapDrop": ["ALL"], "Privileged": False, "Memory": 256 << 20,
        "MemorySwap": 256 << 20, "PidsLimit": 64, "NanoCpus": 10**9, "AutoRemove": True, "OomScoreAdj": 500,
        "ShmSize": 8 << 20, "IpcMode": "private", "Binds": None, "Devices": None, "CapAdd": None,
    }  # fmt: skip
    assert {name: host[name] for name in wanted} == wanted
    assert host["LogConfig"]["Type"] == "none"
    assert host["SecurityOpt"][0] == "no-new-privileges"
    assert json.loads(host["SecurityOpt"][1].removeprefix("seccomp="))["defaultAction"] == "SCMP_ACT_ERRNO"
    limits = {limit["Name"]: (limit["Soft"], limit["Hard"]) for limit in host["Ulimits"]}
    assert limits == {"core": (0, 0), "nofile": (256, 256), "fsize": (32 << 20, 32 << 20)}
    assert len(host["SecurityOpt"]) == 2  # and no word of AppArmor or SELinux: the host's own profile stays
    assert (seen["Mounts"], host["Dns"], host["ExtraHosts"], host["PortBindings"]) == ([], None, None, None)
    assert (host["PidMode"], host["UTSMode"], host["UsernsMode"], host["Init"]) == ("", "", "", False)
    assert set(host["Tmpfs"]) == {"/tmp", "/work", "/dev/shm"}
    assert all("noexec" in how and "nr_inodes=4096" in how for how in host["Tmpfs"].values())
    user, group = map(int, seen["Config"]["User"].split(":"))
    assert user == group
    assert user in ACCOUNTS
    assert seen["Config"]["StdinOnce"] is True
    assert seen["Image"] == box.settings.image


def test_the_seccomp_profile_lets_nothing_through_that_opens_the_box() -> None:
    profile = json.loads(seccomp())
    allowed = {
        name for rule in profile["syscalls"] if rule["action"] == "SCMP_ACT_ALLOW" for name in rule["names"]
    }
    refused = {"io_uring_setup", "io_uring_enter", "ptrace", "bpf", "keyctl", "add_key", "request_key", "userfaultfd",
               "perf_event_open", "unshare", "setns", "mount", "umount2", "pivot_root", "chroot", "reboot", "kexec_load",
               "init_module", "process_vm_readv", "process_vm_writev", "open_by_handle_at", "kcmp", "socketcall"}  # fmt: skip
    assert not allowed & refused
    assert not any(arch["subArchitectures"] for arch in profile["archMap"])


@pytest.mark.docker
def test_the_reaper_takes_boxes_of_dead_owners_and_late_ones_only(
    engine: Engine, plain: BuiltImage, box: Box
) -> None:
    settings = box.settings
    gone = Engine(owner=Owner(Owner.this_process().host, os.getpid(), "another-start"))
    orphan = gone.start(settings, keeper=KEEPER)
    late = engine.start(settings, keeper=KEEPER, life_seconds=-10)
    elsewhere = Engine(owner=Owner("another-host", 1, "x")).start(settings, keeper=KEEPER)
    engine.reap()
    until = time.monotonic() + 20
    while len(left := set(engine.boxes(KEEPER))) > 2 and time.monotonic() < until:
        time.sleep(0.1)
    assert left == {box.id, elsewhere.id}
    assert not {orphan.id, late.id} & left


@pytest.mark.docker
def test_the_reaper_takes_what_the_engine_made_after_we_had_stopped_waiting(
    engine: Engine, box: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    late = engine._create(box.settings, f"late-{os.getpid()}", engine._labels(KEEPER, 1000))
    engine.reap()
    assert late in engine.boxes(KEEPER), "one that is being started just now is left alone"
    monkeypatch.setattr("runner.sandbox.engine.STUCK_SECONDS", -10)
    assert f"late-{os.getpid()}" in engine.reap()
    assert engine.boxes(KEEPER) == [box.id]


@pytest.mark.docker
def test_the_reaper_takes_what_a_crashed_run_left_in_any_state(engine: Engine, plain: BuiltImage) -> None:
    keeper = f"crashed-{time.monotonic_ns()}"
    settings = BoxSettings.of(plain.digest, language("python"), 0, Limits.for_cpu(1))
    crashed = Engine(owner=Owner(Owner.this_process().host, os.getpid(), "another-start"))
    name = f"claim-{time.monotonic_ns()}"
    crashed._create(settings, name, crashed._labels(keeper, 60))
    with suppress(SandboxUnavailable, docker.errors.APIError):  # another worker's reaper may be here first
        engine.api.pause(crashed.start(settings, keeper=keeper).id)
    engine.reap()
    until = time.monotonic() + 20
    while engine.boxes(keeper) and time.monotonic() < until:
        time.sleep(0.1)
    assert engine.boxes(keeper) == []
    engine.dispose(engine.start(settings, keeper=keeper, name=name))
    engine.remove_all(keeper)


@pytest.mark.docker
@pytest.mark.parametrize("name", ["", "claim"])
def test_a_box_that_ends_while_it_starts_is_followed_by_another(
    engine: Engine, plain: BuiltImage, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    settings = BoxSettings.of(plain.digest, language("python"), 0, Limits.for_cpu(1))
    name = name and f"{name}-{time.monotonic_ns()}"
    ended: list[str] = []
    get_ready = engine._ready

    def killed_at_first(stream: BoxStream) -> Frame:
        if ended:
            return get_ready(stream)
        ended.extend(engine.boxes(KEEPER))
        engine.api.kill(ended[0])
        while True:  # it may have said that it is ready before it ended
            stream.receive(until=time.monotonic() + 20)

    monkeypatch.setattr(engine, "_ready", killed_at_first)
    box = engine.start(settings, keeper=KEEPER, name=name)
    try:
        assert ended
        assert box.id not in ended
        assert not name or box.name == name
    finally:
        engine.dispose(box)
        engine.remove_all(KEEPER)


@pytest.mark.docker
def test_a_box_that_does_not_get_ready_leaves_nothing(
    engine: Engine, plain: BuiltImage, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = BoxSettings.of(plain.digest, language("python"), 0, Limits.for_cpu(1))
    monkeypatch.setattr("runner.sandbox.settings.COMMAND", ("python3", "-c", "1/0"))
    keeper = f"broken-{time.monotonic_ns()}"
    with pytest.raises(SandboxUnavailable, match=r"ended before its job did.*ZeroDivisionError"):
        engine.start(settings, keeper=keeper)
    engine.remove_all(keeper)
    monkeypatch.setattr("runner.sandbox.engine.START_SECONDS", 0.5)
    monkeypatch.setattr("runner.sandbox.settings.COMMAND", ("sleep", "60"))
    with pytest.raises(SandboxUnavailable, match="not ready within"):
        engine.start(settings, keeper=keeper)
    until = time.monotonic() + 20
    while engine.boxes(keeper) and time.monotonic() < until:
        time.sleep(0.1)
    assert engine.boxes(keeper) == []


def test_an_owner_is_known_by_host_process_and_start() -> None:
    me = Owner.this_process()
    assert Owner.parse(str(me)) == me
    assert not me.is_gone()
    assert Owner(me.host, me.process, "earlier").is_gone()
    assert not Owner("elsewhere", me.process, "earlier").is_gone()
    assert Owner.parse("nonsense") is None


VICTIM = """
import sys, time
from runner.sandbox.base import Job, Limits
from runner.sandbox.engine import Engine
from runner.sandbox.pool import Pool
pool = Pool(Engine(), {sys.argv[1]: 2})
pool.cold.keeper = sys.argv[2]
assert pool.wait_until_full(60)
job = Job("import time", "", (), Limits(5, 6), block="print(time.sleep(60))", revealed=True)
print("ready", flush=True)
pool.run(job, image=sys.argv[1], name="victim", on_started=lambda: None, on_row=lambda row: None)
"""


@pytest.mark.docker
def test_a_killed_worker_leaves_no_box_once_its_limits_have_passed(engine: Engine, plain: BuiltImage) -> None:
    keeper = f"victim-{time.monotonic_ns()}"
    victim = subprocess.Popen([sys.executable, "-c", VICTIM, plain.digest, keeper], stdout=subprocess.PIPE)
    assert victim.stdout is not None
    assert victim.stdout.readline() == b"ready\n"
    running = {"label": f"{KEEPER_LABEL}={keeper}", "status": "running"}
    # The victim's, and those that wait again: one that is only just created is the reaper's, some time later.
    wait_until(lambda: len(engine.api.containers(filters=running)) >= 3, "the pool's boxes")
    victim.send_signal(signal.SIGKILL)
    victim.wait()
    victim.stdout.close()
    until = time.monotonic() + 30
    while engine.boxes(keeper) and time.monotonic() < until:
        time.sleep(0.1)
    assert engine.boxes(keeper) == []


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (docker.errors.ImageNotFound("x"), "image is not on this host"),
        (docker.errors.APIError("x", explanation="no space left"), "no space left"),
        (requests.exceptions.ReadTimeout("x"), "did not answer in"),
        (requests.exceptions.ConnectionError("x"), "no engine can be reached"),
        (docker.errors.DockerException("x"), "no engine can be reached"),
        (BrokenPipeError("x"), "no engine can be reached"),
        (TimeoutError("x"), "no engine can be reached"),
    ],
)
def test_every_fault_of_the_engine_is_ours_with_a_plain_reason(error: Exception, reason: str) -> None:
    with pytest.raises(SandboxUnavailable, match=f"Trying: .*{reason}"), plainly("Trying"):
        raise error


def test_a_fault_of_our_own_code_is_not_hidden() -> None:
    with pytest.raises(KeyError), plainly("Trying"):
        raise KeyError("x")


def test_an_unknown_language_is_named() -> None:
    with pytest.raises(LanguageUnknown, match="no language profile 'cobol'; there are: python"):
        language("cobol")


def test_text_from_a_box_can_be_stored_anywhere() -> None:
    assert storable("a\x00b\ud800") == "a\u2400b?"
    assert plain_text({"not": "text"}) == ""
    assert len(plain_text("x" * 10**6)) == 4000


@pytest.mark.docker
def test_boxes_are_labelled_with_owner_keeper_and_deadline(engine: Engine, box: Box) -> None:
    labels = engine.api.inspect_container(box.id)["Config"]["Labels"]
    assert labels[KEEPER_LABEL] == KEEPER
    assert Owner.parse(labels["org.benchwright.owner"]) == engine.owner
    assert int(labels["org.benchwright.deadline"]) > time.time()
