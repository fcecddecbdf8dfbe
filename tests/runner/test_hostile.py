"""What untrusted code may try, in real boxes: one exact outcome each, and nothing left behind."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import NamedTuple

import pytest

from runner.environments.building import BuiltImage
from runner.outcome import Judgement, Measurement, Outcome, judge
from runner.sandbox.base import Job, Limits
from runner.sandbox.engine import Engine
from runner.sandbox.pool import Pool
from runner.sandbox.rows import storable
from tests.runner.hostile import CASES, HONEST, TESTS, USUAL, Case
from tests.runner.neighbours import NEIGHBOURS

pytestmark = pytest.mark.docker

SECRET = "s3cr3t-6174"
QUICK = [case for case in (*CASES, *NEIGHBOURS) if case.quick]


class Result(NamedTuple):
    """What came of one job."""

    measurement: Measurement
    judgement: Judgement


def run(pool: Pool, image: str, job: Job) -> Result:
    name = f"claim-{time.monotonic_ns()}"
    measurement = pool.run(job, image=image, name=name, on_started=lambda: None, on_row=lambda row: None)
    return Result(measurement, judge(measurement, job.expected))


@pytest.fixture(scope="module")
def results(
    request: pytest.FixtureRequest, pool: Pool, plain: BuiltImage
) -> Iterator[dict[str, Future[Result]]]:
    """Run the chosen cases, four at a time, as an evening's submissions would come."""
    chosen = [item.callspec.params.get("case") for item in request.session.items if hasattr(item, "callspec")]
    cases = [case for case in chosen if isinstance(case, Case)]
    with ThreadPoolExecutor(4) as threads:
        yield {case.name: threads.submit(run, pool, plain.digest, case.job()) for case in cases}


@pytest.mark.parametrize("case", QUICK, ids=lambda case: case.name)
def test_a_hostile_submission_comes_to_its_one_outcome(
    case: Case, results: dict[str, Future[Result]]
) -> None:
    measurement, judgement = results[case.name].result()
    outcomes = [row.outcome for row in judgement.tests]
    assert (judgement.outcome, outcomes) == (case.whole, [case.f, case.g]), measurement
    if case.f is not Outcome.NOT_RUN:  # what is printed while the program loads is its author's own
        assert measurement.stdout == measurement.stderr == ""
    assert len(measurement.stdout) <= 2 * case.limits.output_bytes
    assert inert(measurement)
    assert all(not row.message and not row.values for row in measurement.rows)


def inert(measurement: Measurement) -> bool:
    """Return whether every text of a measurement can be stored and sent: no NUL, no half of a surrogate."""
    texts = [measurement.stdout, measurement.stderr, measurement.load_error, *measurement.facts.values()]
    texts += [text for row in measurement.rows for text in (row.message, *row.values)]
    return all(text == storable(text) for text in texts)


def told(pool: Pool, plain: BuiltImage, program: str, expression: str) -> str:
    """Return what a scratch run prints."""
    job = Job(program, "", (), USUAL, block=expression, revealed=True)
    result = run(pool, plain.digest, job)
    assert result.judgement.outcome is Outcome.PASSED, result.measurement
    return result.measurement.stdout.strip()


def test_65_nothing_outside_can_be_reached(pool: Pool, plain: BuiltImage) -> None:
    program = """
import socket
def reachable():
    found = []
    for host, port in (("1.1.1.1", 53), ("169.254.169.254", 80), ("172.17.0.1", 2375), ("172.17.0.1", 2376),
                       ("192.168.0.1", 80), ("127.0.0.1", 2375)):
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
            s = socket.socket(socket.AF_INET, kind)
            s.settimeout(1)
            try:
                s.connect((host, port))
                s.send(b"x")
                if kind == socket.SOCK_STREAM or not host.startswith("127."):
                    found.append((host, port))
            except OSError:
                pass
    try:
        found.append(socket.getaddrinfo("example.com", 80))
    except OSError:
        pass
    for family in (16, 17, 40):
        try:
            s = socket.socket(family, socket.SOCK_RAW if family != 40 else socket.SOCK_STREAM)
            if family != 16:
                found.append(family)
        except OSError:
            pass
    return found, [name for _, name in socket.if_nameindex()]
"""
    assert told(pool, plain, program, "reachable()") == "([], ['lo'])"


def test_67_the_environment_is_tiny_and_without_a_secret(pool: Pool, plain: BuiltImage) -> None:
    program = """
import glob, os
def seen():
    names = set(os.environ)
    for path in glob.glob("/proc/[0-9]*/environ"):
        try:
            names |= {item.split(b"=")[0].decode() for item in open(path, "rb").read().split(b"\\0") if item}
        except OSError:
            pass
    return sorted(names)
"""
    expected = [
        "HOME", "HOSTNAME", "LANG", "MKL_NUM_THREADS", "MPLBACKEND", "MPLCONFIGDIR", "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS", "PATH", "PYTHONDONTWRITEBYTECODE", "PYTHONHASHSEED", "TZ", "USER",
    ]  # fmt: skip
    assert told(pool, plain, program, "seen()") == repr(expected)


def test_68_the_host_is_absent_and_the_system_read_only(pool: Pool, plain: BuiltImage) -> None:
    program = """
import os, sysconfig
def allowed():
    done = []
    for path in ("/etc/shadow", "/var/run/docker.sock", "/run/docker.sock", "/proc/kcore", "/proc/1/mem",
                 "/proc/1/environ", "/dev/sda", "/host", "/proc/sysrq-trigger"):
        try:
            done.append(("read", path, open(path, "rb").read(1)))
        except OSError:
            pass
    site = sysconfig.get_path("purelib")
    for path in ("/x", "/etc/x", "/usr/x", "/root/x", "/var/x", site + "/x.pth", "/usr/bin/python3", os.__file__):
        try:
            open(path, "ab").close()
            done.append(("write", path))
        except OSError:
            pass
    return done
"""
    assert told(pool, plain, program, "allowed()") == "[]"


def test_69_what_could_open_the_box_is_refused(pool: Pool, plain: BuiltImage) -> None:
    program = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
CALLS = {"io_uring_setup": 425, "keyctl": 250, "add_key": 248, "bpf": 321, "ptrace": 101, "userfaultfd": 323,
         "perf_event_open": 298, "unshare": 272, "setns": 308, "mount": 165, "chroot": 161, "reboot": 169,
         "process_vm_readv": 310, "open_by_handle_at": 304, "init_module": 175, "pidfd_getfd": 438, "kcmp": 312,
         "memfd_create": 319}
def allowed():
    return [name for name, number in CALLS.items()
            if libc.syscall(number, 0, 0, 0, 0, 0) != -1 or ctypes.get_errno() != 1]
def gained():
    status = open("/proc/self/status").read().split()
    return {name: status[status.index(name + ":") + 1] for name in ("CapEff", "CapBnd", "NoNewPrivs", "Seccomp")}
"""
    assert told(pool, plain, program, "allowed()") == "[]"
    expected = {"CapEff": "0" * 16, "CapBnd": "0" * 16, "NoNewPrivs": "1", "Seccomp": "2"}
    assert told(pool, plain, program, "gained()") == repr(expected)


def test_c_the_settings_hold_inside(pool: Pool, plain: BuiltImage) -> None:
    program = """
import os, resource, stat
def limits():
    names = "CORE", "NOFILE", "FSIZE", "CPU"
    return {name: resource.getrlimit(getattr(resource, "RLIMIT_" + name)) for name in names}
def writable():
    found = []
    for line in open("/proc/mounts"):
        place, kind, options = line.split()[1:4]
        try: open(place + "/x", "w").close()
        except OSError: continue
        os.unlink(place + "/x")
        found.append((place, {"nosuid", "nodev", "noexec"} <= set(options.split(",")), "nr_inodes=4096" in options))
    return sorted(found)
def root():
    return [line.split()[3].split(",")[0] for line in open("/proc/mounts") if line.split()[1] == "/"]
def suid():
    files = (os.path.join(place, name) for place, _, names in os.walk("/usr") for name in names)
    return [path for path in files if os.lstat(path).st_mode & (stat.S_ISUID | stat.S_ISGID)]
def devices():
    return sorted(set(os.listdir("/dev")) - {"fd", "stdin", "stdout", "stderr", "core", "pts", "ptmx", "shm", "mqueue"})
def processes():
    return [pid for pid in os.listdir("/proc") if pid.isdigit() and int(pid) not in (1, os.getpid())]
def accounts():
    return set(os.getresuid() + os.getresgid()) - {os.getuid()}, set(os.getgroups()) - {os.getgid()}
def masked():
    return [path for path in ("/proc/kcore", "/proc/keys", "/proc/timer_list", "/proc/sysrq-trigger", "/sys/firmware")
            if os.path.isdir(path) and os.listdir(path) or os.path.isfile(path) and os.access(path, os.W_OK)]
def score():
    return open("/proc/self/oom_score_adj").read().strip()
"""
    seen = told(pool, plain, program, "limits()")
    limit = 32 << 20
    assert seen == repr({"CORE": (0, 0), "NOFILE": (256, 256), "FSIZE": (limit, limit), "CPU": (7, 7)})
    places = [("/dev/mqueue", True, False), *((place, True, True) for place in ("/dev/shm", "/tmp", "/work"))]
    rest = "writable(), root(), suid(), devices(), processes(), accounts(), masked(), score()"
    devices = ["full", "null", "random", "tty", "urandom", "zero"]
    assert told(pool, plain, program, rest) == repr(
        (places, ["ro"], [], devices, [], (set(), set()), [], "1000")
    )


def test_34_nothing_waits_for_the_next_submission(pool: Pool, plain: BuiltImage) -> None:
    waiting = """
import os, signal
if os.fork() == 0:
    os.setsid()
    for number in range(1, 65):
        try: signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError): pass
    while True:
        for name in os.listdir("/proc"):
            if name.isdigit() and int(name) not in (1, os.getpid(), os.getppid()): os.kill(int(name), 9)
"""
    told(pool, plain, waiting, "1")
    looking = "import os, time\ntime.sleep(0.2)\n"
    seen = told(pool, plain, looking, "[name for name in os.listdir('/proc') if name.isdigit()]")
    assert len(seen.split(",")) == 2


WALKS = {
    "frames": """
import sys
def f(x):
    frame = sys._getframe()
    while frame:
        print(frame.f_code.co_consts, frame.f_locals, frame.f_globals, file=sys.stderr)
        print(frame.f_code.co_consts, frame.f_locals)
        frame = frame.f_back
    return x + 1
""",
    "the heap": """
import gc
def f(x):
    for thing in gc.get_objects():
        try: print(thing)
        except Exception: pass
    return x + 1
""",
    "an exception": """
import sys
def f(x):
    raise ValueError(repr(sys._getframe(1).f_code.co_consts))
""",
    "the value": """
import sys
def f(x):
    return repr(sys._getframe(1).f_code.co_consts)
""",
    "a file read by the next process": """
import os, sys
if os.path.exists("/tmp/seen") or os.path.exists("/dev/shm/seen"):
    raise ImportError(open("/tmp/seen").read())
def f(x):
    for place in ("/tmp/seen", "/dev/shm/seen", "/work/seen"):
        open(place, "w").write(repr(sys._getframe(1).f_code.co_consts))
    os._exit(0)
""",
    "the exit status text": """
import sys
def f(x):
    sys.exit(repr(sys._getframe(1).f_code.co_consts))
""",
}


@pytest.mark.parametrize("way", WALKS)
def test_18_hidden_tests_do_not_come_out(way: str, pool: Pool, plain: BuiltImage) -> None:
    tests = f"def test_f():\n    assert f(1) == 2, {SECRET!r}\n\ndef test_g():\n    assert g({SECRET!r}) == {SECRET!r}\n"
    job = Job(WALKS[way] + "\ndef g(x):\n    print(x)\n    return x\n", tests, ("test_f", "test_g"), USUAL)
    measurement, judgement = run(pool, plain.digest, job)
    assert SECRET not in repr(measurement)
    assert judgement.tests[1].outcome is Outcome.PASSED
    block = Job(job.program, tests, job.expected, USUAL, block="test_f()\ntest_g()\n")
    assert SECRET not in repr(run(pool, plain.digest, block).measurement)


FORGER = """
import sys
def stolen():
    frame = sys._getframe()
    while "reporter" not in frame.f_locals:
        frame = frame.f_back
    return frame.f_locals["reporter"]
stolen().say(loaded=[[1]], seq={})
stolen().say(seq="x")
def f(x):
    secret = repr(sys._getframe(1).f_code.co_consts)
    say = stolen().say
    say(begin=secret)
    say(test=secret, assertion=None, outcome="PASSED", line=1, message=secret, values=[secret], ms=1)
    say(test="test_f", assertion=77, outcome="FAILED", line=7, message=secret, values=[secret], ms=float("inf"))
    say(test="test_f", assertion=secret, outcome=secret, line=secret, message=7, values=secret, ms=secret)
    say(network=secret)
    say(load_error=secret)
    say(loaded=secret)
    say(nothing=secret)
    LAST
    return x + 1
"""


@pytest.mark.parametrize("last", ["", "say(tests_error=secret)", "say(begin=[])", "say(test={}, outcome=[])"])
def test_18_a_forger_of_rows_carries_nothing_out_and_breaks_nothing(
    last: str, pool: Pool, plain: BuiltImage
) -> None:
    tests = f"def test_f():\n    assert f(1) == 2, {SECRET!r}\n"
    program = FORGER.replace("LAST", last or "pass")
    measurement, judgement = run(pool, plain.digest, Job(program, tests, ("test_f",), USUAL))
    assert SECRET not in repr(measurement)
    assert judgement.outcome is (Outcome.LOAD_ERROR if "tests_error" in last else Outcome.FAILED)


def test_29_no_test_is_anywhere_while_the_program_loads(pool: Pool, plain: BuiltImage) -> None:
    program = """
import gc, glob, linecache, os
found = [path for path in glob.glob("/proc/[0-9]*/cmdline") + glob.glob("/work/*") + glob.glob("/tmp/*")
         if b"s3cr" + b"3t" in open(path, "rb").read()]
found += [thing for thing in gc.get_objects() if type(thing) is dict and "s3cr" + "3t" in repr(list(thing.values())[:50])[:9999] and "found" not in thing]
assert not found, found
def f(x):
    return x + 1
"""
    job = Job(program, f"def test_f():\n    assert f(1) == 2, {SECRET!r}\n", ("test_f",), USUAL)
    assert run(pool, plain.digest, job).judgement.outcome is Outcome.PASSED


def test_56_head_and_tail_of_a_flood_are_kept(pool: Pool, plain: BuiltImage) -> None:
    program = "import os\nos.write(1, b'head')\nfor _ in range(200): os.write(1, b'x' * 65536)\nos.write(1, b'tail')\n"
    job = Job(program, "", (), USUAL, block="0", revealed=True)
    measurement, judgement = run(pool, plain.digest, job)
    assert judgement.outcome is Outcome.PASSED
    assert measurement.stdout.startswith("head")
    assert measurement.stdout.endswith("tail0\n")
    assert "bytes not kept" in measurement.stdout
    assert len(measurement.stdout) < USUAL.output_bytes + 100


def test_53_jobs_after_a_full_disk_start_normally(pool: Pool, plain: BuiltImage) -> None:
    filler = Job("open('/tmp/x', 'wb').write(bytes(40 << 20))", "", (), USUAL, block="1", revealed=True)
    honest = Job("def f(x):\n    return x + 1\n" + HONEST, TESTS, ("test_f", "test_g"), USUAL)
    assert run(pool, plain.digest, filler).judgement.outcome is Outcome.LOAD_ERROR
    assert run(pool, plain.digest, honest).judgement.outcome is Outcome.PASSED


HOARDER = """
import ctypes, os, socket, time
def f(x):
    libc = ctypes.CDLL(None)
    made = [0, 0]
    while libc.inotify_init() >= 0 and made[0] < 127: made[0] += 1
    for fd in range(100, 250):
        try: os.close(fd)
        except OSError: pass
    a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        while made[1] < 400: socket.send_fds(a, [b"x"], [0] * 40); made[1] += 40
    except OSError: pass
    time.sleep(1.5)
    return 2 if min(made) > 100 else made
"""
NEEDY = """
import ctypes, socket, time
def f(x):
    time.sleep(0.5)
    assert ctypes.CDLL(None).inotify_init() >= 0
    a, b = socket.socketpair()
    socket.send_fds(a, [b"x"], [0])
    return len(socket.recv_fds(b, 9, 9)[1]) + 1
"""


def test_h1_what_the_kernel_counts_for_each_user_is_not_shared(pool: Pool, plain: BuiltImage) -> None:
    jobs = [
        Job(program + HONEST, TESTS, ("test_f", "test_g"), USUAL) for program in (HOARDER, HOARDER, NEEDY)
    ]
    with ThreadPoolExecutor(3) as threads:
        done = list(threads.map(lambda job: run(pool, plain.digest, job), jobs))
    assert [result.judgement.outcome for result in done] == [Outcome.PASSED] * 3


def test_h1_honest_runs_beside_hostile_ones_keep_their_verdict(pool: Pool, plain: BuiltImage) -> None:
    honest = Job("def f(x):\n    return x + 1\n" + HONEST, TESTS, ("test_f", "test_g"), USUAL)
    wild = [
        case.job() for case in CASES if case.name in ("41 fork bomb", "48 slow growth", "56 endless stdout")
    ]
    jobs = [*[honest] * 6, *wild, *[honest] * 6]
    with ThreadPoolExecutor(4) as threads:
        done = list(threads.map(lambda job: run(pool, plain.digest, job), jobs))
    verdicts = [result.judgement.outcome for job, result in zip(jobs, done, strict=True) if job is honest]
    assert verdicts == [Outcome.PASSED] * 12


def test_the_wall_limit_is_kept_even_when_the_program_waits(pool: Pool, plain: BuiltImage) -> None:
    job = Job("import time\ndef f(x):\n    time.sleep(60)\n", TESTS, ("test_f",), Limits(5, 0.5))
    measurement, _ = run(pool, plain.digest, job)
    assert 0.5 <= measurement.wall_seconds < 3


def test_afterwards_only_the_warm_pool_is_there(
    results: dict[str, Future[Result]], engine: Engine, pool: Pool, plain: BuiltImage
) -> None:
    for future in results.values():
        future.result()
    assert pool.wait_until_full(30)
    until = time.monotonic() + 20
    while len(engine.boxes(pool.cold.keeper)) > 4 and time.monotonic() < until:
        time.sleep(0.1)
    boxes = engine.boxes(pool.cold.keeper)
    assert len(boxes) == 4
    for box in boxes:
        assert len(engine.api.top(box)["Processes"]) == 1
