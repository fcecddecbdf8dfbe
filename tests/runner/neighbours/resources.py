"""Rows 48 to 64: memory, disk, descriptors and output."""

from __future__ import annotations

from textwrap import indent

from tests.runner.hostile import (
    BUSY,
    CPU,
    EARLY_EXIT,
    FAILED,
    MEMORY,
    OUTPUT,
    PASSED,
    SIGNAL,
    Case,
    body,
    each,
    importing,
    refused,
)

GROWING = {
    "a thread": "import threading\nkept = []\ndef grow():\n    while True: kept.append(bytearray(b'x' * (4 << 20)))\nt = threading.Thread(target=grow); t.start(); t.join()",
    "a map of memory": "import mmap\nm = mmap.mmap(-1, 1 << 30)\nfor at in range(0, 1 << 30, 4096): m[at] = 1",
    "text that doubles": "text = 'xy' * 1000\nwhile True: text += text",
    "a square matrix": "return len([[0.5 + i + j for j in range(9000)] for i in range(9000)])",
    "a bomb of zip": "import zlib\nbomb = zlib.compress(bytes(300 << 20))\nreturn len(zlib.decompress(bomb))",
    "/dev/zero, read to its end": "return len(open('/dev/zero', 'rb').read())",
    "its files and its own": "for place in ('/tmp', '/work'): open(place + '/x', 'wb').write(bytes(31 << 20))\nkept = bytearray(b'x' * (220 << 20))",
    "many small processes and itself": """
        import os, time
        for _ in range(40):
            if os.fork() == 0:
                kept = bytearray(b'x' * (4 << 20)); time.sleep(20); os._exit(0)
        kept = []
        while True: kept.append(bytearray(b'x' * (4 << 20)))
        """,
    "pipes that nobody reads": """
        import os
        kept = []
        while True:
            if len(kept) < 100:
                r, w = os.pipe(); os.set_blocking(w, False)
                try:
                    while True: os.write(w, b'x' * 65536)
                except BlockingIOError: pass
            kept.append(bytearray(b'x' * (1 << 20)))
        """,
    "frames of a recursion without limit": "import sys; sys.setrecursionlimit(10 ** 9); return f(x) + 1",
    "a shell": "import os; os.execv('/bin/sh', ['sh', '-c', 'x=xxxxxxxxxxxxxxxx; while :; do x=$x$x; done'])",
}

ALLOCATED = {
    "a list": "return len([0] * 10 ** 10)",
    "a text": "return len('x' * 10 ** 11)",
    "a number": "return 1 << 10 ** 12",
    "a map beyond all": "import mmap; mmap.mmap(-1, 1 << 46)",
    "memory without a file": "import os; os.memfd_create('x')",
    "memory of System V": "import ctypes, os\nif ctypes.CDLL(None).shmget(0, 1 << 28, 0o1600) < 0: raise OSError",
    "messages of System V": "import ctypes, os\nif ctypes.CDLL(None).msgget(0, 0o1600) < 0: raise OSError",
}

DEEP = {
    "repr": "kept = []\nfor _ in range(10 ** 5): kept = [kept]\nreturn repr(kept)",
    "json": "import json\nkept = []\nfor _ in range(10 ** 5): kept = [kept]\nreturn json.dumps(kept)",
    "pickle": "import pickle\nkept = []\nfor _ in range(10 ** 5): kept = [kept]\nreturn pickle.dumps(kept)",
    "deepcopy": "import copy\nkept = []\nfor _ in range(10 ** 5): kept = [kept]\nreturn copy.deepcopy(kept)",
    "attributes": "class A:\n    def __getattr__(self, name): return getattr(self, name)\nreturn A().b",
    "an expression": "return eval('(' * 10 ** 5)",
    "a digit too many": "return int('9' * 10 ** 5)",
}

CRASHES = {
    "a stack overflow in C": "import faulthandler; faulthandler._stack_overflow()",
    "a thread with a small stack": """
        import sys, threading
        sys.setrecursionlimit(10 ** 9); threading.stack_size(32768)
        def deep(_): return sorted([1, 2], key=deep)
        t = threading.Thread(target=deep, args=(1,)); t.start(); t.join()
        """,
    "a write to nowhere": "import ctypes; ctypes.memset(8, 1, 8)",
    "a call to nowhere": "import ctypes; ctypes.CFUNCTYPE(None)(8)()",
    "memory freed twice": "import ctypes\nlibc = ctypes.CDLL(None)\nlibc.malloc.restype = ctypes.c_void_p\nlibc.free.argtypes = [ctypes.c_void_p]\np = libc.malloc(4096)\nlibc.free(p); libc.free(p)",
}

FULL = {
    "/dev/shm": "with open('/dev/shm/big', 'wb') as file:\n    while True: file.write(bytes(1 << 20))",
    "fallocate": "import os; os.posix_fallocate(os.open('/tmp/big', os.O_CREAT | os.O_RDWR), 0, 1 << 30)",
    "a log": "log = open('/work/log', 'a')\nwhile True: log.write('nothing to see here\\n' * 1000)",
    "a map of a file": "import mmap, os\nfd = os.open('/tmp/m', os.O_CREAT | os.O_RDWR); os.ftruncate(fd, 33 << 20)",
    "files without end in /dev/shm": "for n in range(10 ** 6): open(f'/dev/shm/{n}', 'w').close()",
    "directories": "import os\nfor n in range(10 ** 6): os.mkdir(f'/tmp/{n}')",
    "symbolic links": "import os\nfor n in range(10 ** 6): os.symlink('/etc/passwd', f'/tmp/{n}')",
    "hard links": "import os\nopen('/tmp/a', 'w').close()\nfor n in range(10 ** 6): os.link('/tmp/a', f'/tmp/{n}')",
    "a FIFO": "import os; os.mkfifo('/tmp/result.json')",
    "a sparse file of a pebibyte": "import os; os.truncate(os.open('/work/s', os.O_CREAT | os.O_RDWR), 1 << 50)",
    "a core file": "import resource; resource.setrlimit(resource.RLIMIT_CORE, (1 << 30, 1 << 30))",
    "a larger file": "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 40, 1 << 40))",
    "a name too long": "open('/tmp/' + 'x' * 300, 'w')",
}

LITTERED = {
    "full places": "for place in ('/tmp', '/work', '/dev/shm'):\n    try: open(place + '/x', 'wb').write(bytes(31 << 20))\n    except OSError: pass",
    "4,000 files": "for n in range(4000): open(f'/tmp/{n}', 'w').close()",
    "a thousand directories, one in the other": "os.chdir('/tmp')\nfor _ in range(1000): os.mkdir('d'); os.chdir('d')",
    "deep directories with long names": "os.chdir('/tmp')\nfor _ in range(1000): os.mkdir('d' * 200); os.chdir('d' * 200)",
    "locked directories": "os.makedirs('/tmp/a/b/c'); open('/tmp/a/b/c/d', 'w').close(); os.chmod('/tmp/a/b', 0); os.chmod('/tmp/a', 0)",
    "locked places": "os.chmod('/tmp', 0); os.chmod('/work', 0)",
    "links to links": "os.symlink('/', '/tmp/root'); os.symlink('loop', '/tmp/loop'); os.symlink('/dev/zero', '/work/out.txt')\nfor n in range(100): os.symlink('/tmp/root', f'/tmp/{n}')",
    "sockets": "import socket\nfor name in ('/work/stdout', '/tmp/result.json'): socket.socket(socket.AF_UNIX).bind(name)",
    "names that are no text": "os.mkdir(b'/tmp/\\xff\\xfe'); open(b'/tmp/\\xff\\xfe/\\n\\r\\x1b[2J', 'w').close(); open('/work/-rf *', 'w').close(); open('/work/\\u202e', 'w').close()",
    "a message queue": "open('/dev/mqueue/left', 'w').close()",
    "a held file, removed": "kept = open('/tmp/x', 'wb'); os.unlink('/tmp/x'); kept.write(bytes(31 << 20)); kept.flush()",
}
CLEAN = "import os\nleft = [os.listdir(place) for place in ('/work', '/tmp', '/dev/shm', '/dev/mqueue')]\nassert left == [[], [], [], []], left\n"

DESCRIPTORS = {
    "sockets": "import socket\nkept = []\nwhile True: kept.append(socket.socket())",
    "pipes": "import os\nwhile True: os.pipe()",
    "copies": "import os\nwhile True: os.dup(0)",
    "epoll": "import select\nkept = []\nwhile True: kept.append(select.epoll())",
    "more of them allowed": "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (1 << 20, 1 << 20))",
}

FLOODS = {
    "a grandchild": "import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        while True: os.write(1, b'x' * 65536)\n    os._exit(0)\ntime.sleep(19)",
    "/dev/stdout": "file = open('/dev/stdout', 'w')\nwhile True: file.write('x' * 65536)",
    "/dev/stderr": "file = open('/dev/stderr', 'w')\nwhile True: file.write('x' * 65536)",
    "carriage returns": "import os\nwhile True: os.write(1, b'\\r' * 65536)",
    "escape sequences": "import os\nwhile True: os.write(2, b'\\x1b[2J\\x1b]0;x\\x07' * 5000)",
    "bytes that are no text": "import os\nwhile True: os.write(1, b'\\xff\\x00' * 30000)",
    "a program": "import os; os.execvp('yes', ['yes'])",
    "a thread": "import os, threading\ndef flood():\n    while True: os.write(1, b'x' * 65536)\nt = threading.Thread(target=flood); t.start(); t.join()",
    "and leaves": "import os\nfor _ in range(400): os.write(1, b'x' * 65536)\nos._exit(0)",
    "and kills itself": "import os\nfor _ in range(400): os.write(2, b'x' * 65536)\nos.kill(os.getpid(), 9)",
    "sendfile": "import os\nfd = os.open('/tmp/x', os.O_CREAT | os.O_RDWR); os.write(fd, bytes(1 << 20))\nwhile True: os.sendfile(1, fd, 0, 1 << 20)",
}

RESOURCES = [
    *each("48", GROWING, MEMORY, quick=("a map of memory", "many small processes and itself")),
    *each("48", ALLOCATED, FAILED, quick=("memory without a file", "memory of System V")),
    *each("51", DEEP, FAILED, quick=("json",)),
    body(
        "51 a chain that is let go",
        "kept = []\nfor _ in range(10 ** 5): kept = [kept]\nreturn x + 1",
        PASSED,
        quick=False,
    ),
    *each("52", CRASHES, SIGNAL, quick=("a stack overflow in C", "memory freed twice")),
    *each("53", FULL, FAILED, quick=("files without end in /dev/shm", "a map of a file")),
    *(
        Case(
            f"54 leaves {name}",
            f"{CLEAN}def f(x):\n{indent(text, '    ')}\n    os._exit(0)\n",
            EARLY_EXIT,
            EARLY_EXIT,
            quick=name
            in ("full places", "deep directories with long names", "locked directories", "locked places"),
        )
        for name, text in LITTERED.items()
    ),
    body(
        "55 a hundred links to one big file",
        "import os\nopen('/tmp/big', 'wb').write(bytes(20 << 20))\nfor n in range(100): os.symlink('/tmp/big', f'/work/{n}.json')\nreturn x + 1",
        PASSED,
        quick=False,
    ),
    importing("56 floods while it loads", "while True: print('x' * 1000)", OUTPUT),
    *each("56", FLOODS, OUTPUT, quick=("a grandchild", "and leaves")),
    body(
        "58 a right answer, and 15 MiB that nobody asked for",
        "import os\nfor _ in range(240): os.write(1, b'x' * 65536)\nreturn x + 1",
        PASSED,
        quick=False,
    ),
    *each("59", DESCRIPTORS, FAILED, quick=("pipes",)),
    body(
        "62 /proc/kcore, /proc/kmsg, /dev/mem",
        "for path in ('/proc/kcore', '/proc/kmsg', '/dev/mem', '/dev/kmsg', '/dev/port'):\n    try: open(path, 'rb').read(1); return 0\n    except OSError: pass\nreturn x + 1",
        PASSED,
    ),
    body(
        "63 a sieve larger than it need be",
        "sieve = [True] * 10 ** 9",
        MEMORY,
        quick=False,
    ),
    body(
        "63 a search without end",
        "n = 1\nwhile n != n // 2 * 2 + 1 or True: n += 2",
        CPU,
        limits=BUSY,
        quick=False,
    ),
    body(
        "64 aborts where a core could lie",
        "import os, resource\nos.chdir('/work')\nresource.setrlimit(resource.RLIMIT_CORE, (0, 0)); os.abort()",
        SIGNAL,
        quick=False,
    ),
    body(
        "64 a flood for the system's log",
        "import syslog\nfor _ in range(5000): syslog.syslog('x' * 500)\nreturn x + 1",
        PASSED,
        quick=False,
    ),
    refused(
        "64 the kernel's log",
        "import ctypes\nif ctypes.CDLL(None).klogctl(3, bytes(9), 9) < 0: raise OSError",
        quick=False,
    ),
]
