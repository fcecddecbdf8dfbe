"""JavaScript's ways, as examples.languages.base asks for them."""

from __future__ import annotations

import re

from examples.languages.braces.ways import BracedWays

REQUIRED = re.compile(r"""\brequire\(\s*["']([^"'\n]+)["']\s*\)""")
# What node itself brings (https://nodejs.org/api/), by the first part of its name.
BUILT_IN = frozenset(
    [
        *(
            "assert",
            "async_hooks",
            "buffer",
            "child_process",
            "cluster",
            "console",
            "constants",
            "crypto",
            "dgram",
        ),
        *(
            "diagnostics_channel",
            "dns",
            "domain",
            "events",
            "fs",
            "http",
            "http2",
            "https",
            "inspector",
            "module",
        ),
        *(
            "net",
            "os",
            "path",
            "perf_hooks",
            "process",
            "punycode",
            "querystring",
            "readline",
            "repl",
            "stream",
        ),
        *("string_decoder", "sys", "timers", "tls", "trace_events", "tty", "url", "util", "v8", "vm", "wasi"),
        *("worker_threads", "zlib"),
    ]
)


class JavaScriptWays(BracedWays):
    """JavaScript as node runs it: scripts and CommonJS."""

    name = "javascript"
    title = "JavaScript"
    dialect = "javascript"

    def libraries(self, text: str) -> tuple[str, ...]:
        """Return the modules that a text requires by name, sorted."""
        return tuple(
            sorted({match[1].removeprefix("node:").partition("/")[0] for match in REQUIRED.finditer(text)})
        )

    def is_built_in(self, library: str) -> bool:
        """Return whether node brings a module itself."""
        return library in BUILT_IN
