"""What a sample's texts reach for, and which modes have it."""

from __future__ import annotations

import pytest

from runner.sandbox.base import Job, Limits
from runner.sandbox.reach import Reach, fits, reaches


def job(program: str = "", tests: str = "", block: str = "") -> Job:
    return Job(program, tests, ("test_f",), Limits.for_cpu(1), block=block)


@pytest.mark.parametrize(
    ("text", "reach"),
    [
        ("open('/proc/self/status')", Reach.PROC),
        ("import psutil", Reach.PROC),
        ("open('/dev/tty')", Reach.PROC),
        ("import multiprocessing as mp", Reach.SHARED),
        ("from concurrent.futures import ProcessPoolExecutor", Reach.SHARED),
        ("open('/dev/shm/x', 'w')", Reach.SHARED),
        ("import socket", Reach.SOCKETS),
        ("from http.server import HTTPServer", Reach.SOCKETS),
        ("import urllib.request", Reach.SOCKETS),
        ("from flask import Flask", Reach.SOCKETS),
        ("import ftplib", Reach.SOCKETS),
        ("await asyncio.open_connection('127.0.0.1', 1)", Reach.SOCKETS),
    ],
)
def test_a_text_says_what_it_reaches_for_wherever_it_stands(text: str, reach: Reach) -> None:
    for given in (job(program=text), job(tests=text), job(block=text)):
        assert reach in reaches(given)
        assert not fits(given, "zygote")
        assert fits(given, "zygote-userns") == (reaches(given) == {Reach.SHARED})
        assert fits(given, "single")


@pytest.mark.parametrize(
    "text",
    [
        "def process(x):\n    return x",
        "open('/dev/null')",
        "open('/dev/urandom', 'rb')",
        "import threading, asyncio, subprocess, tempfile",
        "requested = 1\nsocketed = 2\nprocessor = 3",
        "path = '/processed'",
    ],
)
def test_ordinary_programs_fit_every_mode(text: str) -> None:
    assert reaches(job(text)) == frozenset()
    assert fits(job(text), "zygote")
