"""An OpenAI-compatible endpoint on 127.0.0.1 whose replies a test writes; every request it got is kept."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Say:
    """A chat completion; `tokens` counts the prompt's and the reply's, None leaves the usage out."""

    text: str
    finish: str = "stop"
    tokens: tuple[int, int] | None = (100, 50)


@dataclass(frozen=True)
class Fail:
    """An HTTP status, with headers and a body."""

    status: int
    body: str = '{"error": {"message": "out of order"}}'
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Raw:
    """A body of status 200 that is no chat completion."""

    body: bytes


@dataclass(frozen=True)
class Hang:
    """Silence for so many seconds, then the end of the connection; `drips` sends a byte now and then meanwhile."""

    seconds: float
    drips: bool = False


Act = Say | Fail | Raw | Hang
Script = Callable[[dict[str, Any]], Act]


@dataclass
class ScriptedEndpoint:
    """Where it listens, and what it was asked: bodies and headers in the order of arrival."""

    base_url: str
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)


def in_turn(*acts: Act) -> Script:
    """Return a script that gives the acts one after the other, the last one for ever."""
    left = list(acts)
    return lambda _: left.pop(0) if len(left) > 1 else left[0]


@contextmanager
def scripted_endpoint(script: Script, *, port: int = 0) -> Iterator[ScriptedEndpoint]:
    """Serve while the block runs."""
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            """Keep the request and do what the script says."""
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                endpoint.requests.append(body)
                endpoint.headers.append(dict(self.headers))
            act = script(body) if self.path == "/v1/chat/completions" else Fail(404)
            with suppress(BrokenPipeError, ConnectionResetError):
                self.do(act, body)

        def do(self, act: Act, body: dict[str, Any]) -> None:
            """Send what the act stands for."""
            if isinstance(act, Hang):
                self._hang(act)
            elif isinstance(act, Fail):
                self._send(act.status, act.body.encode(), act.headers)
            elif isinstance(act, Raw):
                self._send(200, act.body)
            else:
                self._send(200, json.dumps(_completion(act, body["model"])).encode())

        def _hang(self, act: Hang) -> None:
            if act.drips:
                self.send_response(200)
                self.end_headers()
            end = time.monotonic() + act.seconds
            while time.monotonic() < end:
                time.sleep(0.05)
                if act.drips:
                    self.wfile.write(b" ")
            self.close_connection = True

        def _send(self, status: int, body: bytes, headers: tuple[tuple[str, str], ...] = ()) -> None:
            self.send_response(status)
            for name, value in (("Content-Type", "application/json"), *headers):
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    server.block_on_close = False
    endpoint = ScriptedEndpoint(f"http://127.0.0.1:{server.server_port}/v1")
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield endpoint
    finally:
        server.shutdown()
        server.server_close()


def _completion(act: Say, model: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": act.text}
    whole: dict[str, Any] = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": act.finish}],
    }
    if act.tokens is not None:
        whole["usage"] = {"prompt_tokens": act.tokens[0], "completion_tokens": act.tokens[1]}
    return whole
