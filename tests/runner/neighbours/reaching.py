"""Rows 65 to 74: what lies outside the box, and what could open it."""

from __future__ import annotations

from tests.runner.hostile import FAILED, PASSED, SIGNAL, body, each, refused

NETWORK = {
    "IPv6": "import socket; socket.create_connection(('2001:4860:4860::8888', 53), 1)",
    "the metadata address": "import socket; socket.create_connection(('169.254.169.254', 80), 1)",
    "the engine's port": "import socket; socket.create_connection(('172.17.0.1', 2375), 1)",
    "the engine's port on the loopback": "import socket; socket.create_connection(('127.0.0.1', 2375), 1)",
    "a name": "import socket; socket.getaddrinfo('example.com', 80)",
    "raw DNS": "import socket\ns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(1)\ns.sendto(b'\\0' * 12, ('8.8.8.8', 53)); s.recv(9)",
    "broadcast": "import socket\ns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)\ns.sendto(b'x', ('255.255.255.255', 9))",
    "a web page": "import urllib.request; urllib.request.urlopen('http://1.1.1.1', timeout=1)",
    "the engine's socket": "import socket; socket.socket(socket.AF_UNIX).connect('/var/run/docker.sock')",
    "containerd's abstract socket": "import socket; socket.socket(socket.AF_UNIX).connect('\\0/containerd-shim')",
    "a raw socket": "import socket; socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)",
    "AF_PACKET": "import socket; socket.socket(socket.AF_PACKET, socket.SOCK_RAW)",
    "AF_VSOCK": "import socket; socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM)",
    "AF_VSOCK, in the upper half": "import ctypes\nif ctypes.CDLL(None).syscall(41, ctypes.c_ulong(40 + (1 << 32)), 1, 0) < 0: raise OSError",
    "AF_ALG": "import socket; socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET)",
    "AF_BLUETOOTH": "import socket; socket.socket(31, socket.SOCK_RAW, 1)",
    "AF_XDP": "import socket; socket.socket(44, socket.SOCK_RAW)",
    "netlink, its audit": "import socket; socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 9)",
    "netlink, its diagnosis": "import socket; socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 4)",
    "a new address": """
        import socket, struct
        s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)
        body = struct.pack('BBBBI', 2, 8, 0, 0, 1) + struct.pack('HH4s', 8, 2, bytes([10, 0, 0, 1]))
        s.send(struct.pack('IHHII', 16 + len(body), 20, 5, 1, 0) + body)
        error = -struct.unpack('i', s.recv(99)[16:20])[0]
        if error: raise OSError(error, 'netlink')
        """,
}

FILES = {
    "/etc/shadow": "open('/etc/shadow').read()",
    "the engine's socket": "open('/var/run/docker.sock')",
    "the host's disk": "open('/dev/vda', 'rb').read(1)",
    "a device of its own": "import os, stat; os.mknod('/tmp/disk', 0o600 | stat.S_IFBLK, os.makedev(254, 0))",
    "the interpreter": "open('/usr/bin/python3', 'ab')",
    "the shell, exchanged": "import os; open('/tmp/sh', 'w').close(); os.rename('/tmp/sh', '/bin/sh')",
    "the library": "import os; open(os.__file__, 'a')",
    "a file that all programs load": "open('/etc/ld.so.preload', 'w')",
    "/dev/null, exchanged": "import os; os.unlink('/dev/null')",
    "a device beside /dev/null": "import os; os.symlink('/etc/passwd', '/dev/x')",
    "itself, by /proc": "open('/proc/self/exe', 'r+b')",
    "a setting of the kernel": "open('/proc/sys/kernel/core_pattern', 'w').write('|/tmp/x')",
    "the magic key": "open('/proc/sysrq-trigger', 'w').write('b')",
    "its control group": "open('/sys/fs/cgroup/memory/memory.limit_in_bytes', 'w').write('-1')",
    "a control group of its own": "import os; os.mkdir('/sys/fs/cgroup/memory/x')",
    "a program in /tmp": "import os\nopen('/tmp/x', 'w').write('#!/bin/sh\\necho 1'); os.chmod('/tmp/x', 0o755); os.execv('/tmp/x', ['x'])",
    "code mapped from /tmp": "import mmap, os\nfd = os.open('/tmp/x', os.O_CREAT | os.O_RDWR); os.write(fd, bytes(4096))\nmmap.mmap(fd, 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC)",
    "a file of another": "import os; os.chown('/tmp', 0, 0)",
    "a hard link to a file of the system": "import os; os.link('/etc/passwd', '/tmp/passwd'); open('/tmp/passwd', 'a')",
    "a link to a file of the system": "import os; os.symlink('/etc/passwd', '/work/out.txt'); open('/work/out.txt', 'a')",
    "a path that climbs": "open('/work/../../../../etc/x', 'w')",
    "kernel modules": "import os; os.listdir('/lib/modules')",
}

CALLS = {
    "setuid": "import os; os.setuid(0)",
    "setgroups": "import os; os.setgroups([0])",
    "chroot": "import os; os.chroot('/tmp')",
    "unshare": "import os; os.unshare(0x10000000)",
    "clone with a namespace": "import ctypes\nif ctypes.CDLL(None).syscall(56, 0x10000000 | 17, 0, 0, 0, 0) < 0: raise OSError",
    "setns": "import os; os.setns(os.open('/proc/self/ns/net', os.O_RDONLY))",
    "mount": "import ctypes\nif ctypes.CDLL(None).mount(b'none', b'/tmp', b'tmpfs', 0, None) < 0: raise OSError",
    "a new mount": "import ctypes\nif ctypes.CDLL(None).syscall(430, b'tmpfs', 0) < 0: raise OSError",
    "reboot": "import ctypes\nif ctypes.CDLL(None).reboot(0x1234567) < 0: raise OSError",
    "io_uring": "import ctypes\nif ctypes.CDLL(None).syscall(425, 8, bytes(120)) < 0: raise OSError",
    "keyctl": "import ctypes\nif ctypes.CDLL(None).syscall(250, 0, -3, 1) < 0: raise OSError",
    "bpf": "import ctypes\nif ctypes.CDLL(None).syscall(321, 0, bytes(48), 48) < 0: raise OSError",
    "userfaultfd": "import ctypes\nif ctypes.CDLL(None).syscall(323, 1) < 0: raise OSError",
    "perf": "import ctypes\nif ctypes.CDLL(None).syscall(298, bytes(120), 0, -1, -1, 0) < 0: raise OSError",
    "a file by its handle": "import ctypes\nif ctypes.CDLL(None).syscall(304, 3, bytes(128), 0) < 0: raise OSError",
    "the host's name": "import socket; socket.sethostname('x')",
    "the host's clock": "import time; time.clock_settime(time.CLOCK_REALTIME, 0)",
    "memory that is secret": "import ctypes\nif ctypes.CDLL(None).syscall(447, 0) < 0: raise OSError",
    "contexts of asynchronous reading": "import ctypes\nif ctypes.CDLL(None).syscall(206, 1000, bytes(8)) < 0: raise OSError",
    "su": "import subprocess\nif subprocess.run(['su', '-c', 'true'], capture_output=True).returncode: raise OSError",
    "ports of the machine": "import ctypes\nif ctypes.CDLL(None).iopl(3) < 0: raise OSError",
}

INNOCENT = {
    "a server and its client on the loopback": """
        import socket, threading
        server = socket.create_server(('127.0.0.1', 0))
        threading.Thread(target=lambda: server.accept()[0].send(b'ab'), daemon=True).start()
        return len(socket.create_connection(server.getsockname()).recv(2))
        """,
    "an abstract socket": """
        import socket
        server = socket.socket(socket.AF_UNIX); server.bind('\\0mine'); server.listen()
        client = socket.socket(socket.AF_UNIX); client.connect('\\0mine'); client.send(b'ab')
        return len(server.accept()[0].recv(2))
        """,
    "workers": "import multiprocessing\nwith multiprocessing.Pool(2) as workers: return workers.map(abs, [-2])[0]",
    "descriptors through a socket": "import os, socket\na, b = socket.socketpair()\nsocket.send_fds(a, [b'x'], [0, 1]); return len(socket.recv_fds(b, 9, 9)[1])",
    "shared memory": "from multiprocessing import shared_memory\ns = shared_memory.SharedMemory(create=True, size=9); s.buf[0] = 2; return s.buf[0]",
    "threads": "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(4) as threads: return sum(threads.map(int, '101'))",
    "a program": "import subprocess; return int(subprocess.run(['echo', '2'], capture_output=True, text=True).stdout)",
    "temporary files": "import os, tempfile\nwith tempfile.TemporaryDirectory() as place:\n    open(place + '/a', 'w').write('ab'); os.rename(place + '/a', '/tmp/b'); return os.path.getsize('/tmp/b')",
    "its own name and home": "import getpass, os, pathlib\nreturn 2 if getpass.getuser() and pathlib.Path.home().is_dir() and os.path.expanduser('~') else 0",
    "a lower rank": "import os; os.nice(1); os.sync(); return x + 1",
    "a terminal of its own": "import os, pty\na, b = pty.openpty(); return 2 if os.isatty(b) else 0",
    "a clock": "import asyncio, time\nasyncio.run(asyncio.sleep(0.01)); return 2 if time.time() > 1e9 else 0",
}

REACHING = [
    *(
        refused(
            f"65 {name}",
            text,
            quick=name in ("AF_VSOCK, in the upper half", "AF_ALG", "a new address", "a name"),
        )
        for name, text in NETWORK.items()
    ),
    body(
        "67 whatever is in its environment or another's",
        """
        import glob, os
        seen = repr(dict(os.environ))
        for path in glob.glob('/proc/[0-9]*/environ'):
            try: seen += open(path).read()
            except OSError: pass
        words = ('secret', 'token', 'key', 'passw', 'redis', 'postgres', 'django', 'http')
        return 2 if not any(word in seen.lower() for word in words) else 0
        """,
        PASSED,
        quick=False,
    ),
    *(
        refused(
            f"68 {name}",
            text,
            quick=name in ("a program in /tmp", "code mapped from /tmp", "/dev/null, exchanged"),
        )
        for name, text in FILES.items()
    ),
    *(
        refused(
            f"69 {name}",
            text,
            quick=name in ("clone with a namespace", "su"),
        )
        for name, text in CALLS.items()
    ),
    body(
        "69 a call by a number of x32",
        "import ctypes; ctypes.CDLL(None).syscall(0x40000000 | 39)",
        SIGNAL,
        quick=False,
    ),
    body(
        "69 a system call of 32 bits",
        """
        import ctypes, mmap
        code = bytes.fromhex('b814000000cd80c3')  # mov eax, 20 (getpid); int 0x80; ret
        m = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC); m.write(code)
        call = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(m)))
        return x + (call() <= 0)
        """,
        SIGNAL,
    ),
    body(
        "73 a path of its own for later programs",
        "import os\nopen('/tmp/python3', 'w').write('#!/bin/sh\\n'); os.chmod('/tmp/python3', 0o755)\nos.environ['PATH'] = '/tmp'; os._exit(os.execlp('python3', 'python3'))",
        FAILED,
        quick=False,
    ),
    *each(
        "74",
        INNOCENT,
        PASSED,
        quick=("descriptors through a socket", "its own name and home", "an abstract socket"),
    ),
]
