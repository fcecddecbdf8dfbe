"""Network cut, session over, web process killed, two windows: what was typed into a real browser is all on the server.

    python -m tests.benchmarks.drill_lost_work [ROUNDS]

A site as `make run` serves it, and Chromium on its workspace. ROUNDS times each (20), a person types random text while

    network    the browser has no network; each second time the window is closed meanwhile and opened again afterwards
    session    the session ends, and the person signs in again in the layer over the page
    server     the web processes get SIGKILL at a random moment of typing, saving or waiting; four people at once, since
               the site waits the longer before it starts them again the more often they end
    windows    another window, of the same browser or of another computer, has typed other text

Afterwards the server's last draft is what the editor holds, every word that was typed is in it, and of two windows each
text is a revision, after a question that showed both. Exit 1 where anything is missing.
"""

from __future__ import annotations

import os
import random
import secrets
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Dialog, Error, Page, sync_playwright

from tests.benchmarks.figures import Table
from tests.benchmarks.site import Site, session_of, site
from tests.browser.chromium import FLAGS, chromium

ROUNDS = 20
PATIENCE_SECONDS = 120
AT_ONCE = 4
PASSWORD = "of no use outside the drills"
ODD = ("ä", "→", "𝒳", "\t", "'", "#", "%", "&", "=", "+", "\\", "<b>")


class Missing(Exception):
    """Something that was typed is not where it has to be."""


@dataclass
class Bench:
    """One person's attempt on the site, the browser it is worked on in, and seeded chance."""

    served: Site
    browser: Browser
    attempt: Any
    chance: random.Random
    contexts: list[BrowserContext] = field(default_factory=list)

    def computer(self) -> BrowserContext:
        """Return a browser of its own, signed in."""
        context = self.browser.new_context()
        self.contexts.append(context)
        session = session_of(self.attempt.annotator)
        context.add_cookies([{"name": "sessionid", "value": session, "url": self.served.address}])
        return context

    def close(self) -> None:
        """Close the person's browsers."""
        for context in self.contexts:
            context.close()

    def window(self, context: BrowserContext) -> Page:
        """Return a window with the workspace, ready to type in, all it holds being saved."""
        page = context.new_page()
        page.on("dialog", _accept)
        page.goto(f"{self.served.address}/attempts/{self.attempt.pk}/")
        page.locator("code-editor#solution .cm-content").wait_for()
        settled(page)
        return page

    def type(self, page: Page, lines: int = 3) -> list[str]:
        """Type some lines at the end of the text, and return the words in them that are nowhere else."""
        if not page.locator("dialog[open]").count():
            page.locator("code-editor#solution .cm-content").click()
            page.keyboard.press("Control+End")
        words: list[str] = []
        for _ in range(lines):
            if page.locator("dialog[open]").count():  # it opens at a rest only, and a person would see it
                break
            words.append(word := secrets.token_hex(6))
            page.keyboard.press("Enter")
            page.keyboard.insert_text(f"# {word} {self.chance.choice(ODD)} ")
            page.keyboard.type(word)
            page.wait_for_timeout(self.chance.uniform(0, 120))
        return words

    def wait(self, page: Page, longest: float) -> None:
        """Let a random time go by: what follows hits typing, saving or rest."""
        page.wait_for_timeout(1000 * self.chance.uniform(0, longest))

    def drafts(self) -> list[str]:
        """Return all stored revisions of the function, oldest first."""
        return list(self.attempt.drafts.order_by("revision").values_list("function", flat=True))

    def check(self, page: Page, words: list[str]) -> None:
        """Raise Missing unless the last draft is the editor's text with every word in it, and the journal is empty."""
        last, shown = self.drafts()[-1], editor(page)
        lost = [word for word in words if last.count(word) != 2]
        if lost:
            raise Missing(f"{len(lost)} of {len(words)} lines are not in the last draft")
        if last != shown:
            raise Missing("the editor holds other text than the last draft")
        if left := page.evaluate(
            "Object.keys(localStorage).filter(key => key.startsWith('benchwright:draft:')).length"
        ):
            raise Missing(f"{left} journals are left behind")


def _accept(dialog: Dialog) -> None:
    dialog.accept()


def editor(page: Page) -> str:
    """Return what the editor holds."""
    return str(page.evaluate("document.querySelector('#solution').value"))


def until(page: Page, holds: Callable[[], bool], what: str) -> None:
    """Wait until something holds. Raises Missing after two minutes, with what the page says of saving."""
    end = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end:
        with suppress(Exception):  # the page is on its way to another
            if holds():
                return
        page.wait_for_timeout(50)
    raise Missing(f"{what} was waited for in vain; the page says {page.locator('#save').inner_text()!r}")


def settled(page: Page) -> None:
    """Wait until what other windows have left is taken up, and everything is saved."""
    page.wait_for_timeout(300)  # a window waits 150 ms for others to say that they live
    until(
        page, lambda: page.evaluate("!workspace.unsaved && !document.querySelector('dialog[open]')"), "saving"
    )


def network(bench: Bench, number: int) -> None:
    """Type before, during and after a cut of the network, or come back to it with a new window."""
    context = bench.computer()
    page = bench.window(context)
    words = bench.type(page)
    bench.wait(page, 1.5)
    context.set_offline(True)
    words += bench.type(page)
    bench.wait(page, 2.5)
    if number % 2:
        page.close()
        context.set_offline(False)
        page = bench.window(context)
        until(page, lambda: words[-1] in editor(page), "the journal")
    else:
        context.set_offline(False)
    words += bench.type(page, 1)
    settled(page)
    bench.check(page, words)


def session(bench: Bench, number: int) -> None:
    """Let the session end while somebody types, and sign in where the page asks for it."""
    from django.contrib.sessions.models import Session

    page = bench.window(bench.computer())
    loaded = page.evaluate("performance.timeOrigin")
    words = bench.type(page)
    bench.wait(page, 1.2)
    Session.objects.all().delete()
    words += bench.type(page)
    layer = page.get_by_role("dialog", name="You are signed out")
    layer.wait_for()
    before = editor(page)
    layer.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    layer.wait_for(state="hidden")
    if editor(page) != before or page.evaluate("performance.timeOrigin") != loaded:
        raise Missing("the editor did not stay as it was")
    words += bench.type(page, 1)
    settled(page)
    bench.check(page, words)


def server(benches: list[Bench]) -> list[str]:
    """Kill the web processes while people type, go on typing until they are back; return what was lost, for each."""
    pages = [bench.window(bench.computer()) for bench in benches]
    words = [bench.type(page) for bench, page in zip(benches, pages, strict=True)]
    benches[0].wait(pages[0], 1.5)
    for pid in benches[0].served.pids_of("config.web"):
        os.kill(pid, signal.SIGKILL)
    for at, (bench, page) in enumerate(zip(benches, pages, strict=True)):
        words[at] += bench.type(page)
    benches[0].wait(pages[0], 3)
    lost = []
    for at, (bench, page) in enumerate(zip(benches, pages, strict=True)):
        try:
            words[at] += bench.type(page, 1)
            settled(page)
            bench.check(page, words[at])
        except (Missing, Error) as what:
            lost.append(str(what).splitlines()[0])
    return lost


def windows(bench: Bench, number: int) -> None:
    """Type in two windows; the one that comes second is asked, and either answer keeps both texts."""
    mine = bench.computer()
    first = bench.window(mine)
    second = bench.window(mine if number % 2 else bench.computer())
    one, other = bench.type(first), bench.type(second)
    late, early = _asked(first, second)
    settled(early)
    theirs, own = editor(early), editor(late)
    dialog = late.get_by_role("dialog", name="Two texts, and only you know which")
    for kind, words in (("add", one if late is first else other), ("del", other if late is first else one)):
        shown = "\n".join(dialog.locator(f".{kind}").all_inner_texts())
        if [word for word in words if word not in shown]:
            raise Missing(f"the question does not show every line of .{kind}")
    keeps = bench.chance.choice(["mine", "theirs"])
    late.locator(f"[data-keep={keeps}]").click()
    settled(late)
    if editor(late) != (own if keeps == "mine" else theirs) or bench.drafts()[-1] != editor(late):
        raise Missing("the choice is not what is stored")
    stored = bench.drafts()
    if own not in stored or theirs not in stored:
        raise Missing("one of the two texts is no revision")


def _asked(first: Page, second: Page) -> tuple[Page, Page]:
    """Return the window that is asked which text to keep, and the other one."""
    end = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end:
        for page, rest in ((second, first), (first, second)):
            if page.locator("dialog#conflict[open]").count():
                return page, rest
        first.wait_for_timeout(50)
    raise Missing("neither window was asked")


def make_attempt(name: str) -> Any:
    """Return the open attempt of a new annotator who has a password."""
    from annotation.accounts import create_account
    from config.access import Role
    from tests.annotation.factories import make_attempt as opened

    return opened(create_account(username=name, role=Role.ANNOTATOR, password=PASSWORD))


@dataclass
class Drill:
    """The site and the browser that all rounds share."""

    served: Site
    browser: Browser
    seed: int
    table: Table

    def bench(self, name: str, number: int) -> Bench:
        """Return a new person's bench."""
        chance = random.Random(self.seed + number)
        return Bench(self.served, self.browser, make_attempt(f"{name}{number}"), chance)

    def alone(self, kind: Callable[[Bench, int], None], rounds: int) -> None:
        """Go through a failure that meets one person, round after round."""
        seconds, lost = [], []
        for number in range(rounds):
            bench, began = self.bench(kind.__name__, number), time.monotonic()
            try:
                kind(bench, number)
            except (Missing, Error) as what:
                lost.append(f"round {number}: {str(what).splitlines()[0]}")
            seconds.append(time.monotonic() - began)
            bench.close()
        self.tell(kind.__name__, rounds, seconds, lost)

    def together(self, rounds: int) -> None:
        """Go through kills of the web processes, each of which meets several people."""
        seconds, lost = [], []
        for first in range(0, rounds, AT_ONCE):
            benches = [self.bench("server", at) for at in range(first, min(first + AT_ONCE, rounds))]
            began = time.monotonic()
            lost += server(benches)
            seconds.append(time.monotonic() - began)
            for bench in benches:
                bench.close()
        self.tell("server", rounds, seconds, lost)

    def tell(self, name: str, rounds: int, seconds: list[float], lost: list[str]) -> None:
        """Add what came of a kind to the table, and print it at once."""
        print(f"{name}: {rounds - len(lost)} of {rounds}", *lost, sep="\n", flush=True)
        self.table.add(name, seconds)
        found = f"{len(lost)} of {rounds}" + "".join(f"; {each}" for each in lost[:5])
        self.table.fact(f"{name}: people who lost text", found, goal="0", holds=not lost)


def main(arguments: list[str]) -> int:
    """Go through every failure as often as asked for; return the exit status."""
    rounds, seed = int(arguments[0]) if arguments else ROUNDS, secrets.randbits(32)
    with site(executes=False) as served, sync_playwright() as play:
        table = Table(f"What is typed is not lost, {served.stores}, seed {seed}", unit="seconds for a round")
        browser = play.chromium.launch(executable_path=chromium(), args=FLAGS.split())
        drill = Drill(served, browser, seed, table)
        drill.alone(network, rounds)
        drill.alone(session, rounds)
        drill.alone(windows, rounds)
        drill.together(rounds)
        browser.close()
        return table.show()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
