"""The peers that start containers themselves; runs in the peer's own virtual environment, which has no Benchwright.

Reads requests {image, workers, programs}, one a line; answers {seconds, passed} each. The argument is the peer's name.
"""

import json
import logging
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

END = "__ALL_OK__"
MEMORY_MB = 256
FLAGS = (
    "--rm -i --network none --read-only --cap-drop ALL --pids-limit 64 --memory 256m --memory-swap 256m --cpus 1"
    " --user 65534:65534 --log-driver none --security-opt no-new-privileges"
    " --tmpfs /tmp:rw,noexec,nosuid,nodev,size=32m"
)


def docker_run(image):
    """A hardened `docker run --rm` for each program."""

    def run(program):
        command = ["docker", "run", *FLAGS.split(), image, "python3", "-P", "-s", "-B", "-"]
        done = subprocess.run(command, input=program.encode(), capture_output=True, timeout=60, check=False)
        return done.stdout.endswith(END.encode() + b"\n")

    return run


def epicbox(image):
    """epicbox.run for each program. Its files cannot be put into a read-only container, so it has none."""
    import epicbox as library
    import structlog

    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    profile = library.Profile("python", image, user="nobody", read_only=False, network_disabled=True)
    library.configure(profiles=[profile])
    limits = {"cputime": 3, "memory": MEMORY_MB, "realtime": 7}

    def run(program):
        files = [{"name": "main.py", "content": program.encode()}]
        said = library.run("python", "python3 -P -s -B main.py", files=files, limits=limits)
        return said["stdout"].endswith(END.encode() + b"\n")

    return run


def llm_sandbox(image):
    """A session of llm-sandbox for each program, with an init: without one each takes ten seconds to close."""
    from llm_sandbox import SandboxSession

    logging.disable(logging.CRITICAL)
    options = {
        "network_mode": "none",
        "mem_limit": f"{MEMORY_MB}m",
        "cap_drop": ["ALL"],
        "pids_limit": 64,
        "init": True,
    }
    named = {"lang": "python", "image": image, "keep_template": True, "skip_environment_setup": True}

    def run(program):
        with SandboxSession(runtime_configs=dict(options), **named) as session:
            return END in session.run(program).stdout

    return run


PEERS = {"docker run": docker_run, "epicbox": epicbox, "llm-sandbox": llm_sandbox}


def main():
    """Serve requests."""
    print("ready", flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        run = PEERS[sys.argv[1]](request["image"])

        def one(program, run=run):
            try:
                return bool(run(program))
            except Exception as error:
                print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
                return False

        programs = [f"{program}\nprint({END!r})\n" for program in request["programs"]]
        began = time.perf_counter()
        with ThreadPoolExecutor(request["workers"]) as pool:
            passed = list(pool.map(one, programs))
        print(json.dumps({"seconds": time.perf_counter() - began, "passed": passed}), flush=True)


if __name__ == "__main__":
    main()
