"""A signed-in person's connection: HTTP/1.1 kept alive, cookies, CSRF; standard library, so that little of it is measured."""

from __future__ import annotations

import http.client
import json
import time
from dataclasses import dataclass
from http.cookies import SimpleCookie
from typing import Any, NamedTuple
from urllib.parse import urlencode

import brotli

CSRF = "b" * 32
PATIENCE_SECONDS = 60
IDLE_SECONDS = 3.0  # the server closes a connection that was idle for 5 s


class Answer(NamedTuple):
    """What came back; `first_ms` until the status line, `total_ms` until the last byte, as sent over the wire."""

    status: int
    location: str
    body: bytes
    encoding: str
    first_ms: float
    total_ms: float


@dataclass
class Person:
    """One account's browser, as far as requests go."""

    port: int
    session: str

    def __post_init__(self) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_SECONDS)
        self.cookies = {"sessionid": self.session, "csrftoken": CSRF}
        self.used_at = time.monotonic()

    @property
    def cookie(self) -> str:
        """Return the header that a websocket of this person needs as well."""
        return "; ".join(f"{name}={text}" for name, text in self.cookies.items())

    def get(self, path: str, **headers: str) -> Answer:
        """Ask for a page; a redirect is not followed."""
        return self._ask("GET", path, None, headers)

    def post(self, path: str, values: dict[str, str | int], **headers: str) -> Answer:
        """Send a form, with the token a page would send."""
        return self._ask(
            "POST",
            path,
            urlencode(values),
            {"X-CSRFToken": CSRF, "Content-Type": "application/x-www-form-urlencoded", **headers},
        )

    @staticmethod
    def text_of(answer: Answer) -> str:
        """Return a page's text, whatever it was compressed by."""
        return (brotli.decompress(answer.body) if answer.encoding == "br" else answer.body).decode()

    def json_of(self, answer: Answer) -> Any:
        """Return what an answer in JSON says."""
        return json.loads(self.text_of(answer))

    def _ask(self, method: str, path: str, body: str | None, headers: dict[str, str]) -> Answer:
        if time.monotonic() - self.used_at > IDLE_SECONDS:
            self.connection.close()
            self.connection.connect()
        began = time.perf_counter()
        sent = {"Cookie": self.cookie, "Accept-Encoding": "br", **headers}
        self.connection.request(method, path, body, sent)
        response = self.connection.getresponse()
        first = time.perf_counter()
        content = response.read()
        ended, self.used_at = time.perf_counter(), time.monotonic()
        for header in response.headers.get_all("Set-Cookie") or ():
            self.cookies |= {name: morsel.value for name, morsel in SimpleCookie(header).items()}
        location = response.headers.get("Location", "")
        encoding = response.headers.get("Content-Encoding", "")
        return Answer(
            response.status, location, content, encoding, (first - began) * 1000, (ended - began) * 1000
        )


def xhr() -> dict[str, str]:
    """Return the headers by which the workspace's own script asks."""
    return {"Accept": "application/json"}


def htmx(target: str) -> dict[str, str]:
    """Return the headers by which htmx asks for a partial."""
    return {"HX-Request": "true", "HX-Target": target}
