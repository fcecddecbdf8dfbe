"""What a page weighs: every file of the shell and the editor, compressed as whitenoise serves them."""

from __future__ import annotations

import re

import brotli
from django.contrib.staticfiles import finders
from django.template.loader import render_to_string
from django.test import Client

from annotation.models import User

COLD_BYTES = 300_000
AGAIN_BYTES = 40_000


def weight(address: str) -> int:
    """Return the compressed size in bytes of a static file."""
    path = finders.find(address)
    assert isinstance(path, str), address
    with open(path, "rb") as file:
        return len(brotli.compress(file.read(), quality=11))


def test_the_heaviest_page_of_the_shell_is_light_cold_and_again(curator: User, client: Client) -> None:
    client.force_login(curator)
    html = client.get("/kit/").content
    files = set(re.findall(r'(?:src|href)="/static/([^"]+)"', html.decode()))
    assert "vendor/editor.js" in files
    assert len(html) + sum(map(weight, files)) <= COLD_BYTES
    assert len(html) <= AGAIN_BYTES


def test_a_page_without_editor_does_not_load_it() -> None:
    assert "vendor/editor.js" not in render_to_string("base.html")


def test_the_bundle_carries_the_licence_of_everything_in_it() -> None:
    path = finders.find("vendor/licences.txt")
    assert isinstance(path, str)
    with open(path) as file:
        text = file.read()
    for package in (
        "@codemirror/view",
        "@codemirror/state",
        "@codemirror/lint",
        "@lezer/python",
        "style-mod",
        "w3c-keyname",
    ):
        assert re.search(rf"^{re.escape(package)} [\d.]+ \(MIT\)$", text, re.M), package
    assert text.count("Permission is hereby granted") >= 15
