"""What a piece of code touches outside itself, told by what its names are imported from, never by its letters; pure."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from examples.generation.fragments.base import Reason
from examples.languages.python.source import DEFINITIONS, bound_names

NAMES = {
    Reason.NETWORK: """socket ssl socketserver http.client http.server urllib.request urllib2 ftplib smtplib poplib
        imaplib telnetlib nntplib xmlrpc requests httpx aiohttp httplib2 urllib3 websocket websockets paramiko fabric boto
        boto3 botocore pycurl zmq grpc redis pymongo psycopg psycopg2 MySQLdb pymysql kafka pika elasticsearch twisted
        tornado.httpclient asyncio.open_connection asyncio.start_server google.cloud googleapiclient""",
    Reason.GPU: "torch.cuda cupy pycuda pyopencl numba.cuda tensorflow jax mxnet theano cudf pynvml",
    Reason.SUBPROCESS: """subprocess commands popen2 pexpect sh pty multiprocessing
        concurrent.futures.ProcessPoolExecutor os.system os.popen os.fork os.forkpty os.execl os.execle os.execlp
        os.execlpe os.execv os.execve os.execvp os.execvpe os.spawnl os.spawnle os.spawnlp os.spawnlpe os.spawnv
        os.spawnve os.spawnvp os.spawnvpe os.posix_spawn os.posix_spawnp os.startfile os.kill os.killpg
        asyncio.create_subprocess_exec asyncio.create_subprocess_shell""",
    Reason.FILES: """open io.open io.FileIO codecs.open gzip.open bz2.open lzma.open tarfile.open zipfile.ZipFile file
        os.open os.remove os.unlink os.rename os.renames os.replace os.mkdir os.makedirs os.rmdir os.removedirs
        os.listdir os.scandir os.walk os.stat os.lstat os.chmod os.chown os.link os.symlink os.utime os.truncate os.access
        os.path.exists os.path.isfile os.path.isdir os.path.getsize os.path.getmtime shutil tempfile glob mmap sqlite3 dbm
        shelve fcntl pathlib.Path pathlib.PosixPath linecache fileinput pandas.read_csv numpy.load numpy.save
        numpy.loadtxt numpy.savetxt""",
}
# Dotted names; everything below one counts. The longest that fits decides, None takes a part out again.
TOUCHES: dict[str, Reason | None] = {
    **{name: reason for reason, names in NAMES.items() for name in names.split()},
    "shutil.get_terminal_size": None,
    "xmlrpc.client.dumps": None,
    "multiprocessing.cpu_count": None,
}
METHODS = {"cuda": Reason.GPU}  # of whatever object: `model.cuda()`


class Touch(NamedTuple):
    """What is touched, by which dotted name, at which line."""

    reason: Reason
    name: str
    line: int


def touches(statements: Sequence[ast.stmt], around: Iterable[ast.stmt] = ()) -> list[Touch]:
    """Return what statements touch when they run, in source order; `around` are the module's statements.

    A name is followed through imports and their aliases, those of the module and those inside. A name that nobody
    binds and that is the name of a module counts as that module: a published function has lost its imports.
    """
    around = list(around)
    imported = _aliases([*around, *statements])
    bound = {name for statement in around for name in bound_names(statement)}
    found = [touch for each in statements for touch in _touched(each, imported, bound)]
    return sorted(set(found), key=lambda touch: (touch.line, touch.name))


def _touched(statement: ast.stmt, imported: dict[str, str], bound: set[str]) -> Iterator[Touch]:
    """Yield what one statement touches; a name that it binds itself stands for no import around it."""
    own = _aliases([statement])
    local = _bound_inside(statement) - own.keys()
    aliases = {name: dotted for name, dotted in imported.items() if name in own or name not in local}
    nodes = list(ast.walk(statement))
    inner = {id(node.value) for node in nodes if isinstance(node, ast.Attribute)}
    for node in nodes:
        touch = _touch(node, aliases, bound | local) if id(node) not in inner else None
        if touch is not None:
            yield touch


def _touch(node: ast.AST, aliases: dict[str, str], bound: set[str]) -> Touch | None:
    """Return what a node touches; an import alone touches nothing."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.args:
        reason = METHODS.get(node.func.attr)
        if reason:
            return Touch(reason, f".{node.func.attr}()", node.lineno)
    if not isinstance(node, ast.Attribute | ast.Name) or not isinstance(node.ctx, ast.Load):
        return None
    root, _, rest = _dotted(node).partition(".")
    dotted = f"{root}.{rest}" if rest else root
    if root in aliases:
        dotted = f"{aliases[root]}.{rest}" if rest else aliases[root]
    elif root in bound or (not rest and not hasattr(builtins, root) and root != "file"):
        return None
    if dotted.rpartition(".")[2].isupper():  # a constant, such as socket.AF_INET
        return None
    reason = _reason(dotted)
    return Touch(reason, dotted, node.lineno) if reason else None


def _reason(dotted: str) -> Reason | None:
    for prefix in _prefixes(dotted):
        if prefix in TOUCHES:
            return TOUCHES[prefix]
    return None


def _prefixes(dotted: str) -> Iterator[str]:
    """Yield a dotted name and what it lies in, longest first."""
    while dotted:
        yield dotted
        dotted = dotted.rpartition(".")[0]


def _dotted(node: ast.expr) -> str:
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


def _aliases(statements: Iterable[ast.stmt]) -> dict[str, str]:
    """Return what each imported name stands for, as a dotted name."""
    names: dict[str, str] = {}
    for statement in statements:
        for node in ast.walk(statement):
            if isinstance(node, ast.Import):
                for each in node.names:
                    bare = each.name.partition(".")[0]
                    names[each.asname or bare] = each.name if each.asname else bare
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names.update({each.asname or each.name: f"{node.module}.{each.name}" for each in node.names})
    return names


def _bound_inside(statement: ast.stmt) -> set[str]:
    """Return the names that a statement binds at any depth, arguments included."""
    names = set(bound_names(statement))
    for node in ast.walk(statement):
        if isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, (*DEFINITIONS, ast.ExceptHandler)) and node.name:
            names.add(node.name)
    return names
