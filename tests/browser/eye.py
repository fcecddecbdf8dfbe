"""What a person sees: a page in both appearances and widths, looked at by axe, and pictured where pictures are wanted."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit
from zlib import crc32

from django.urls import Resolver404, resolve
from playwright.sync_api import Page

SCHEMES = ("light", "dark")
WIDE, NARROW, HEIGHT = 1360, 390, 900
PAINTED = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
REFUSALS = ("Failed to load resource: the server responded with a status of",)


class Eye:
    """Looks at pages and keeps what it finds, each as one line.

    troubles   what axe objects to, what is wider than the window, what the console or the content security policy says
    folder     where pictures go, `<name>-<scheme>-<width>.png` and `<name>-window.png`, the part that shows without
               scrolling; and pages.jsonl with the route of each and how many rules axe saw broken. None: no pictures
    """

    def __init__(self, axe: Callable[[Page], list[str]], folder: Path | None) -> None:
        self.axe, self.folder = axe, folder
        self.troubles: list[str] = []

    def watch(self, page: Page, *, refusals: bool = False) -> Page:
        """Keep what the page's console and scripts complain of from now on; `refusals` lets answers of 4xx pass."""
        page.set_viewport_size({"width": WIDE, "height": HEIGHT})

        def hear(kind: str, text: str) -> None:
            if kind == "error" and not (refusals and text.startswith(REFUSALS)):
                self.troubles.append(f"{urlsplit(page.url).path}: {text}")

        page.on("console", lambda message: hear(message.type, message.text))
        page.on("pageerror", lambda error: hear("error", str(error)))
        page.on(
            "response", lambda answer: answer.status < 500 or hear("error", f"{answer.status} {answer.url}")
        )
        return page

    def look(self, page: Page, name: str, *, whole: bool = True, axe: bool = True) -> None:
        """Look at the page as it stands; `whole` pictures all of it, else only the window, where that is wide.

        In both appearances where pictures are wanted; else in one of them, always the same for a name.
        """
        page.wait_for_load_state()
        broken: dict[str, int] = {}
        for scheme in SCHEMES if self.folder else (SCHEMES[crc32(name.encode()) % 2],):
            page.emulate_media(color_scheme=scheme)
            for width in (NARROW, WIDE):
                page.set_viewport_size({"width": width, "height": HEIGHT})
                if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
                    self.troubles.append(f"{name}: wider than {width} px")
                self._picture(page, f"{name}-{scheme}-{width}", whole=whole or width == NARROW)
            if axe:
                found = self.axe(page)
                broken[scheme] = len(found)
                self.troubles += [f"{name}, {scheme}: {line}" for line in found]
        page.emulate_media(color_scheme="light")
        self._picture(page, f"{name}-window", whole=False)
        self._note(page, name, broken)

    def _picture(self, page: Page, name: str, *, whole: bool) -> None:
        if self.folder:
            page.evaluate(PAINTED)
            page.screenshot(path=self.folder / f"{name}.png", full_page=whole, animations="disabled")

    def _note(self, page: Page, name: str, broken: dict[str, int]) -> None:
        if self.folder:
            try:
                route = resolve(urlsplit(page.url).path).url_name or ""
            except Resolver404:  # the page that says that there is none
                route = ""
            with (self.folder / "pages.jsonl").open("a") as file:
                file.write(json.dumps({"name": name, "route": route, "axe": broken}) + "\n")
