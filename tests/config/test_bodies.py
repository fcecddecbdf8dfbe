"""A body that is too long ends its request before anything is kept of it."""

from __future__ import annotations

import pytest
from asgiref.sync import async_to_sync
from asgiref.testing import ApplicationCommunicator
from django.test import override_settings

from config.asgi import application
from config.bodies import USUAL_BYTES

PIECE = b"x" * (1 << 20)


def post(path: str, pieces: int, *, length: int | None = None) -> list[dict]:
    """Send pieces of a MiB each, by default without saying how many, and return what is answered."""

    async def talk() -> list[dict]:
        headers = [(b"host", b"localhost"), (b"content-type", b"application/octet-stream")]
        if length is not None:
            headers.append((b"content-length", str(length).encode()))
        scope = {"type": "http", "method": "POST", "path": path, "headers": headers, "query_string": b""}
        client = ApplicationCommunicator(application, scope | {"scheme": "http", "asgi": {"version": "3.0"}})
        for number in range(pieces):
            await client.send_input({"type": "http.request", "body": PIECE, "more_body": number < pieces - 1})
        await client.wait(20)
        return [client.output_queue.get_nowait() for _ in range(client.output_queue.qsize())]

    return async_to_sync(talk)()


@pytest.mark.django_db(transaction=True)
def test_a_body_of_usual_length_is_answered() -> None:
    assert post("/accounts/login/", 2)[0]["status"] in (400, 403, 413)


def test_a_body_without_end_is_hung_up_on() -> None:
    assert post("/accounts/login/", (USUAL_BYTES >> 20) + 2) == []


@pytest.mark.parametrize("length", [USUAL_BYTES + 1, 10**30])
def test_a_body_that_says_it_is_too_long_is_refused_unread(length: int) -> None:
    assert post("/accounts/login/", 0, length=length)[0]["status"] == 413


@pytest.mark.django_db(transaction=True)
def test_an_import_may_be_longer() -> None:
    with override_settings(DATA_UPLOAD_MAX_MEMORY_SIZE=1 << 30):
        assert post("/examples/imports/", (USUAL_BYTES >> 20) + 2)[0]["status"] == 302
