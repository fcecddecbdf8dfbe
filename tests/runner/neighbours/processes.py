"""Rows 35 to 47: time, signals and processes."""

from __future__ import annotations

from tests.runner.hostile import (
    BUSY,
    CPU,
    EARLY_EXIT,
    FAILED,
    IDLE,
    NOT_RUN,
    PASSED,
    WALL,
    body,
    each,
    importing,
    refused,
)

BURNING = {
    "a loop in C": "import itertools; sum(itertools.repeat(1))",
    "one huge power": "return 3 ** 10 ** 9",
    "a regular expression": "import re; re.match(r'(a+)+$', 'a' * 60 + 'b')",
    "the digits of a huge number": "import sys; sys.set_int_max_str_digits(0); str(1 << 3 * 10 ** 7)",
    "a child, while it waits": "import os\nif os.fork() == 0:\n    while True: pass\nos.wait()",
    "two at once": "import os\nos.fork()\nwhile True: pass",
    "a thread, while it waits": "import threading\ndef burn():\n    while True: pass\nt = threading.Thread(target=burn); t.start(); t.join()",
    "a shell": "import os; os.execv('/bin/sh', ['sh', '-c', 'while :; do :; done'])",
    "itself, started again and again": """
        import os
        again = "import os; os.execv('/usr/bin/python3', ['python3', '-c', os.environ['AGAIN']])"
        os.execve('/usr/bin/python3', ['python3', '-c', again], {'AGAIN': again})
        """,
    "a main thread that has left": "import ctypes, threading\ndef burn():\n    while True: pass\nthreading.Thread(target=burn).start()\nctypes.CDLL(None).syscall(60, 0)",
    "collisions": "class A:\n    def __hash__(self): return 1\n    def __eq__(self, other): return False\nlen({A() for _ in range(10 ** 6)})",
    "the end of input, again and again": "while True:\n    try: input()\n    except EOFError: pass",
    "a factorial": "import math; math.factorial(10 ** 7)",
    "reading /dev/zero": "file = open('/dev/zero', 'rb', 0)\nwhile file.read(1 << 16): pass",
    "reading /dev/urandom": "file = open('/dev/urandom', 'rb', 0)\nwhile file.read(1 << 16): pass",
    "spawned programs": "import os\nwhile True:\n    try: os.waitpid(os.posix_spawn('/bin/true', ['true'], {}), 0)\n    except OSError: pass",
    "signals to pid 1": "import os\nwhile True: os.kill(1, 17)",
    "a blocked SIGXCPU": "import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))\nwhile True: pass",
    "a handler that goes on": "import signal\nsignal.signal(signal.SIGXCPU, lambda *_: None)\nwhile True: pass",
    "a flushed stream, at the end": "import sys\nclass S:\n    def write(self, *_): pass\n    def flush(self):\n        while True: pass\nsys.stdout = S()\nwhile True: pass",
}

WAITING = {
    "a lock": "import threading\nlock = threading.Lock(); lock.acquire(); lock.acquire()",
    "its own pipe": "import os; os.read(os.pipe()[0], 1)",
    "a queue": "import queue; queue.Queue().get()",
    "sigwait": "import signal; signal.sigwait([signal.SIGUSR1])",
    "a lock of a file": "import fcntl, os\na, b = open('/tmp/a', 'w'), open('/tmp/a', 'w')\nfcntl.flock(a, 2); fcntl.flock(b, 2)",
    "a coroutine": "import asyncio; asyncio.run(asyncio.sleep(99))",
    "a child that sleeps": "import subprocess; subprocess.run(['sleep', '99'])",
    "a server without a client": "import socket\ns = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen(); s.accept()",
    "SIGSTOP to itself": "import os; os.kill(os.getpid(), 19)",
    "SIGSTOP from its child": "import os, time\nif os.fork() == 0: os.kill(os.getppid(), 19); os._exit(0)\ntime.sleep(99)",
    "a thread, the main one gone": "import ctypes, threading, time\nthreading.Thread(target=time.sleep, args=(99,)).start()\nctypes.CDLL(None).syscall(60, 0)",
    "a slow drip of output": "import os, time\nwhile True: os.write(1, b'.'); time.sleep(0.01)",
    "inotify": "import ctypes, os; os.read(ctypes.CDLL(None).inotify_init(), 1)",
    "epoll": "import select; select.epoll().poll()",
}

SPARED = {
    "SIGSTOP to pid 1": "import os; os.kill(1, 19); return x + 1",
    "signals to pid 1 by a descriptor": "import os, signal\nfor n in (9, 15, 19): signal.pidfd_send_signal(os.pidfd_open(1), n)\nreturn x + 1",
    "queued signals to pid 1": "import ctypes\nfor n in range(1, 65): ctypes.CDLL(None).syscall(129, 1, n, bytes(128))\nreturn x + 1",
    "SIGSTOP to everyone": "import os\ntry: os.kill(-1, 19)\nexcept OSError: pass\nreturn x + 1",
    "a storm of SIGCHLD": "import os\nfor _ in range(20000): os.kill(1, 17)\nreturn x + 1",
    "SIGTERM to its parent from a child": "import os\nif os.fork() == 0: os.setsid(); os.kill(1, 15); os._exit(0)\nos.wait(); return x + 1",
}

TAKEN = {
    "ptrace of pid 1": "import ctypes, os\nif ctypes.CDLL(None).ptrace(16, 1, 0, 0) < 0: raise OSError",
    "reading pid 1's memory": "open('/proc/1/mem', 'rb').read(1)",
    "writing pid 1's memory": "open('/proc/1/mem', 'r+b').write(b'x')",
    "pid 1's map": "open('/proc/1/maps').read()",
    "pid 1's descriptors": "import os; os.listdir('/proc/1/fd')",
    "a descriptor of pid 1": "import ctypes, os\nif ctypes.CDLL(None).syscall(438, os.pidfd_open(1), 1, 0) < 0: raise OSError",
    "process_vm_readv": "import ctypes\nif ctypes.CDLL(None).process_vm_readv(1, None, 0, None, 0, 0) < 0: raise OSError",
    "pid 1's environment": "open('/proc/1/environ').read()",
    "pid 1's directory": "import os; os.chdir('/proc/1/cwd')",
    "pid 1's root": "import os; os.listdir('/proc/1/root/')",
    "pid 1's score": "open('/proc/1/oom_score_adj', 'w').write('1000')",
    "its own score": "open('/proc/self/oom_score_adj', 'w').write('500')",
    "pid 1's rank": "import os; os.setpriority(os.PRIO_PROCESS, 1, 19)",
    "everyone's rank": "import os; os.setpriority(os.PRIO_USER, 0, 19)",
    "pid 1's rank, in the upper half": "import ctypes\nif ctypes.CDLL(None).syscall(141, ctypes.c_ulong(0), ctypes.c_ulong(1 + (1 << 32)), 19) < 0: raise OSError",
    "pid 1's scheduler": "import os; os.sched_setscheduler(1, os.SCHED_IDLE, os.sched_param(0))",
    "pid 1's limits": "import resource; resource.prlimit(1, resource.RLIMIT_NOFILE, (1, 1))",
    "a better rank": "import os; os.nice(-5)",
    "real time": "import os; os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))",
}

LEFT = {
    "a child deaf to signals": """
        import os, signal
        if os.fork() == 0:
            for n in range(1, 65):
                try: signal.signal(n, signal.SIG_IGN)
                except (OSError, ValueError): pass
            while True: pass
        return x + 1
        """,
    "a stopped child": "import os\nif os.fork() == 0: os.kill(os.getpid(), 19)\nreturn x + 1",
    "a thread that burns": "import threading\ndef burn():\n    while True: pass\nthreading.Thread(target=burn, daemon=True).start()\nreturn x + 1",
    "a thread that is waited for": "import threading, time\nthreading.Thread(target=time.sleep, args=(99,)).start()\nreturn x + 1",
    "a daemon that floods a little later": "import os, time\nif os.fork() == 0:\n    os.setsid(); time.sleep(0.3)\n    while True: os.write(1, b'x' * 65536)\nreturn x + 1",
    "a server on the loopback": "import os, socket\nif os.fork() == 0:\n    s = socket.socket(); s.bind(('127.0.0.1', 8080)); s.listen(); s.accept()\nreturn x + 1",
    "fifty sleepers in sessions of their own": "import os, time\nfor _ in range(50):\n    if os.fork() == 0: os.setsid(); time.sleep(99)\nreturn x + 1",
    "a shell in the background": "import os; os.system('sleep 99 &'); return x + 1",
}

PROCESSES = [
    *each(
        "35",
        BURNING,
        CPU,
        limits=BUSY,
        quick=("a loop in C", "a child, while it waits", "a main thread that has left"),
    ),
    *each(
        "36",
        WAITING,
        WALL,
        limits=IDLE,
        g=NOT_RUN,
        quick=("SIGSTOP to itself", "a thread, the main one gone"),
    ),
    *each("40", SPARED, PASSED, quick=("SIGSTOP to pid 1", "SIGSTOP to everyone")),
    *(
        refused(
            f"40 {name}",
            text,
            quick=name in ("a descriptor of pid 1", "pid 1's rank, in the upper half", "its own score"),
        )
        for name, text in TAKEN.items()
    ),
    body(
        "41 clone3, whose flags no filter sees",
        "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\nassert libc.syscall(435, bytes(88), 88) == -1\nreturn x + ctypes.get_errno() - 37",
        PASSED,
    ),
    body(
        "41 a bomb in a shell",
        "import subprocess\nsubprocess.run(['sh', '-c', 'b() { b | b & }; b']); return x + 1",
        PASSED,
        quick=False,
    ),
    body(
        "41 a bomb of spawned programs",
        "import os\nwhile True: os.posix_spawn('/bin/sleep', ['sleep', '99'], {})",
        FAILED,
    ),
    body(
        "41 a bomb of vfork",
        "import subprocess\nkept = []\nwhile True: kept.append(subprocess.Popen(['sleep', '99']))",
        FAILED,
        quick=False,
    ),
    body(
        "41 a bomb of workers",
        "import multiprocessing, time\nwhile True: multiprocessing.Process(target=time.sleep, args=(99,)).start()",
        FAILED,
        quick=False,
    ),
    body(
        "41 a bomb that leaves",
        "import os\nfor _ in range(6): os.fork()\nos._exit(0)",
        EARLY_EXIT,
        quick=False,
    ),
    *each(
        "42",
        LEFT,
        PASSED,
        quick=("a child deaf to signals", "a stopped child", "a daemon that floods a little later"),
    ),
    body(
        "44 orphans, one after the other",
        "import os\nfor _ in range(200):\n    if os.fork() == 0:\n        os.fork(); os._exit(0)\n    os.wait()\nreturn x + 1",
        PASSED,
        quick=False,
    ),
    body(
        "44 a reaper of its own",
        "import ctypes, os, time\nctypes.CDLL(None).prctl(36, 1)\nif os.fork() == 0:\n    if os.fork() == 0: time.sleep(99)\n    os._exit(0)\nreturn x + 1",
        PASSED,
        quick=False,
    ),
    *each(
        "47",
        {
            "reads its input": "import sys; return len(sys.stdin.read()) + 2",
            "reads descriptor 0": "import os; return len(os.read(0, 9)) + 2",
        },
        PASSED,
    ),
    body("47 asks the terminal", "open('/dev/tty').read()", FAILED, quick=False),
    importing("47 input while it loads", "input()", quick=False),
]
