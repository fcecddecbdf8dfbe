"""Streams: chunk by chunk, under ASGI as under WSGI."""

from __future__ import annotations

from collections.abc import Iterator

from django.test import AsyncRequestFactory, RequestFactory

from config.streaming import stream


def counting(pulled: list[int]) -> Iterator[bytes]:
    for number in range(1000):
        pulled.append(number)
        yield b"%d\n" % number


async def test_under_asgi_the_first_chunk_leaves_before_the_others_are_made():
    pulled: list[int] = []
    response = stream(AsyncRequestFactory().get("/"), counting(pulled), content_type="text/plain")
    chunks = aiter(response)
    assert await anext(chunks) == b"0\n"
    assert pulled == [0]
    assert len([chunk async for chunk in chunks]) == 999


def test_under_wsgi_it_flows_as_well():
    pulled: list[int] = []
    chunks = iter(stream(RequestFactory().get("/"), counting(pulled), content_type="text/plain"))
    assert next(chunks) == b"0\n"
    assert pulled == [0]


def test_name_size_and_hash_are_said_ahead():
    response = stream(
        RequestFactory().get("/"),
        iter(()),
        content_type="text/plain",
        filename="ä.csv",
        size_bytes=3,
        sha256="ab",
    )
    assert response["Content-Disposition"] == "attachment; filename*=utf-8''%C3%A4.csv"
    assert (response["Content-Length"], response["ETag"]) == ("3", '"ab"')


def test_an_empty_chunk_is_never_sent_since_it_could_end_the_body():
    response = stream(RequestFactory().get("/"), iter([b"", b"a", b"", b"b"]), content_type="text/plain")
    assert list(response) == [b"a", b"b"]
