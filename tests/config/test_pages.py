"""Pages are answered in a few threads that stay, each with its own connection."""

from __future__ import annotations

import threading

import pytest
from asgiref.testing import ApplicationCommunicator
from django.db import connection
from django.http import HttpRequest, HttpResponse

from config.pages import THREADS, PageHandler

pytestmark = pytest.mark.django_db(transaction=True)


async def answered(handler: PageHandler, path: str) -> int:
    """Ask for a path as uvicorn would, and return the status."""
    scope = {
        "type": "http",
        "method": "GET",
        "path": path,
        "query_string": b"",
        "headers": [(b"host", b"localhost")],
    }
    asked = ApplicationCommunicator(handler, scope)
    await asked.send_input({"type": "http.request", "body": b"", "more_body": False})
    status = int((await asked.receive_output(30))["status"])
    await asked.receive_output(30)
    await asked.wait(30)
    return status


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, object]]:
    """The thread and its open connection, for every request that is answered meanwhile."""
    noted: list[tuple[str, object]] = []
    answer = PageHandler.get_response

    def noting(self: PageHandler, request: HttpRequest) -> HttpResponse:
        response = answer(self, request)
        noted.append((threading.current_thread().name, connection.connection))
        return response

    monkeypatch.setattr(PageHandler, "get_response", noting)
    return noted


async def test_a_request_is_answered_whole_in_one_of_our_threads(seen):
    assert await answered(PageHandler(), "/accounts/login/") == 200
    assert [name.rpartition("_")[0] for name, _ in seen] == ["page"]


async def test_a_thread_keeps_its_connection_from_request_to_request(seen):
    handler = PageHandler()
    for _ in range(3 * THREADS):
        await answered(handler, "/healthz")
    opened = {}
    for name, handle in seen:
        assert handle is not None
        assert opened.setdefault(name, handle) is handle
    assert 1 <= len(opened) <= THREADS


async def test_a_connection_on_which_an_error_occurred_is_not_kept(seen, monkeypatch):
    closed = []

    def failing(self: PageHandler, request: HttpRequest) -> HttpResponse:
        connection.ensure_connection()
        connection.errors_occurred = True
        connection.is_usable = lambda: closed.append(True)
        return HttpResponse()

    monkeypatch.setattr(PageHandler, "get_response", failing)
    await answered(PageHandler(), "/")
    assert closed
