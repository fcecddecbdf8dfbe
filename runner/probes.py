"""What the doctor runs in a box: one program for each thing that must hold, and the outcome that shows that it does."""

from __future__ import annotations

from dataclasses import dataclass

from runner.languages import language
from runner.outcome import Outcome
from runner.sandbox.base import Job, Limits
from runner.sandbox.settings import ENVIRONMENT

TEST = "test_it_holds"

# What a box is given, and what the engine and the interpreter add to it.
OURS = (*ENVIRONMENT, *language("python").environment(0), "HOSTNAME", "LC_CTYPE", "PWD", "SHLVL", "_")


@dataclass(frozen=True)
class Probe:
    """A claim about boxes, the job that tries it, the outcome when it is true, and what to do when it is not."""

    claim: str
    job: Job
    expected: Outcome
    remedy: str


def _probe(
    claim: str, body: str, *, expected: Outcome = Outcome.PASSED, remedy: str, limits: Limits | None = None
) -> Probe:
    """Return a probe whose test function has this body."""
    lines = "\n".join(f"    {line}" for line in body.strip().splitlines())
    job = Job(
        program="import os, socket, time\n",
        tests=f"def {TEST}():\n{lines}\n",
        expected=(TEST,),
        limits=limits or Limits.for_cpu(2),
        revealed=True,
    )
    return Probe(claim, job, expected, remedy)


PROBES = (
    _probe(
        "a program runs and its test passes",
        "assert sum(range(10)) == 45",
        remedy="Look at the engine's own log (journalctl -u docker), and build the images again.",
    ),
    _probe(
        "memory ends at its limit",
        "kept = bytearray(1 << 30)\nassert kept",
        expected=Outcome.MEMORY,
        remedy="The kernel must have the memory cgroup (boot with cgroup_enable=memory), and no swap accounting fault.",
    ),
    _probe(
        "CPU time ends at its limit",
        "while True:\n    pass\nassert True",
        expected=Outcome.TIMEOUT_CPU,
        limits=Limits(cpu_seconds=1, wall_seconds=8),
        remedy="The machine gives a box less than an eighth of a core: lessen its load, then try again.",
    ),
    _probe(
        "wall time ends at its limit",
        "time.sleep(60)\nassert True",
        expected=Outcome.TIMEOUT_WALL,
        limits=Limits(cpu_seconds=1, wall_seconds=1),
        remedy="Report this with the engine's version: the supervisor did not end a sleeping program.",
    ),
    _probe(
        "the number of processes ends at its limit",
        """
made = []
try:
    while len(made) < 200:
        child = os.fork()
        if child == 0:
            time.sleep(30)
            os._exit(0)
        made.append(child)
except OSError:
    pass
for child in made:
    os.kill(child, 9)
assert 0 < len(made) < 100
""",
        remedy="The kernel must have the pids cgroup.",
    ),
    _probe(
        "there is no network",
        """
reached = False
for family, address in ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET, "172.17.0.1"), (socket.AF_INET6, "2001:db8::1")):
    try:
        with socket.socket(family) as wire:
            wire.settimeout(1)
            wire.connect((address, 53))
        reached = True
    except OSError as error:
        reached = reached or isinstance(error, TimeoutError)
assert not reached
assert [name for _, name in socket.if_nameindex() if name != "lo"] == []
""",
        remedy="Boxes must be started with network mode none: no plug-in of the engine may change that.",
    ),
    _probe(
        "nothing of this host's environment is seen",
        f"strange = sorted(set(os.environ) - {set(OURS)!r})\nassert strange == []",
        remedy="Look at the engine's proxy settings (~/.docker/config.json): it hands those to every container.",
    ),
    _probe(
        "nothing can be written outside the scratch directories",
        """
written = []
for path in ("/probe", "/usr/probe", "/etc/probe", "/root/probe", "/var/probe", "/proc/sys/kernel/probe", "/sys/probe"):
    try:
        open(path, "w").close()
        written.append(path)
    except OSError:
        pass
assert written == []
""",
        remedy="Boxes must be started with a read-only root: the engine ignored that.",
    ),
    _probe(
        "the program has no rights: not root, no capability, no new ones, system calls filtered",
        """
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
assert os.getuid() != 0
assert int(status["CapEff"], 16) == 0 and int(status["CapBnd"], 16) == 0
assert int(status["NoNewPrivs"]) == 1
assert int(status["Seccomp"]) == 2
""",
        remedy="The kernel must have seccomp filters (CONFIG_SECCOMP_FILTER), and the engine must use them.",
    ),
)
