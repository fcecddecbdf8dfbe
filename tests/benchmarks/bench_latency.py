"""From the click on "Run visible tests" to the outcome on the page, beside the other ways to run the program once.

    python -m tests.benchmarks.bench_latency [TIMES]

A real Chromium on a site as `make run` serves it: the time runs from the click event's own stamp to the mutation of the
page that shows the outcome, both by the page's clock. In the same rounds: the same request over plain HTTP and a websocket
(post to answer, post to the frame with the outcome), `python3 file.py`, `docker exec` and a hardened `docker run --rm`.
"""

from __future__ import annotations

import sys
import time
from typing import Any
from uuid import uuid4

from playwright.sync_api import Page, sync_playwright

from tests.benchmarks.client import Person, htmx
from tests.benchmarks.figures import Table
from tests.benchmarks.frames import Frames
from tests.benchmarks.peers import PROGRAM, TESTS, milliseconds, peers
from tests.benchmarks.site import Site, session_of, site
from tests.benchmarks.stages import stages
from tests.browser.chromium import FLAGS, chromium

TIMES = 50
# Until the box before is replaced and gone, which is what "warm" means: a hardened `docker run` alone takes 0.3.
PAUSE_SECONDS = 0.8
PROCESSES = ("config.web", "config.work")
BROWSER = "click to outcome on the page"
POSTED, FRAME = "post to its answer, no browser", "post to the outcome's frame, no browser"

WATCH = """() => {
  const state = window.measured = { want: 0, at: null, took: null }
  document.addEventListener("click", event => {
    if (!event.target.closest("[data-run]")) return
    const last = Number(document.getElementById("execution").dataset.runs)
    Object.assign(state, { want: last + 1, at: event.timeStamp, took: null })
  }, true)
  new MutationObserver(() => {
    const panel = document.getElementById("execution")
    if (state.at === null || state.took !== null || panel.dataset.running !== "false") return
    const said = panel.querySelector("[role=status]").textContent
    if (said.includes(`run ${state.want}:`)) state.took = performance.now() - state.at
  }).observe(document.body, { subtree: true, childList: true, attributes: true, characterData: true })
}"""
SAID = "() => document.querySelector('#execution [role=status]').textContent"


def main() -> int:
    """Measure and print; return 1 where the goal was missed or a run did not pass."""
    times = int(sys.argv[1]) if len(sys.argv) > 1 else TIMES
    with site() as served:
        attempts = [make_attempt(name) for name in ("ann", "ben")]
        before = {module: served.cpu_ms(module) for module in PROCESSES}
        found = measured(served, attempts, times)
        table = Table(f"Latency: a trivial solution, warm, {served.stores}, web processes and a worker")
        table.add(BROWSER, found.pop(BROWSER), p50=30, p95=80)
        for name, values in found.items():
            table.add(name, values)
        for name, values in stages().items():
            table.add(f"  of it: {name}", values)
        used = ", ".join(f"{name} {served.cpu_ms(name) - before[name]:.0f} ms" for name in PROCESSES)
        table.fact(f"processor time for {2 * times} runs", used)
        return table.show()


def make_attempt(name: str) -> Any:
    """Return the open attempt of a new annotator on a trivial example."""
    from annotation.accounts import create_account
    from config.access import Role
    from tests.annotation.factories import make_attempt as opened
    from tests.annotation.factories import make_version

    person = create_account(username=name, role=Role.ANNOTATOR, password=None)
    return opened(person, versions=[make_version(source=f"{PROGRAM}\n\n{TESTS}", focal="f")])


def measured(served: Site, attempts: list[Any], times: int) -> dict[str, list[float]]:
    """Return the milliseconds of every way, one of each per round."""
    from runner.models import Environment

    image = Environment.objects.get(name="plain").image_digest
    sessions = [session_of(attempt.annotator) for attempt in attempts]
    with sync_playwright() as play, peers(image) as others:
        browser = play.chromium.launch(executable_path=chromium(), args=FLAGS.split())
        page = opened(browser.new_context(), served, attempts[0], sessions[0])
        person = Person(served.port, sessions[1])
        address = f"/attempts/{attempts[1].pk}/"
        with Frames(served.port, f"/ws{address}", person.cookie) as frames:
            ways = {
                BROWSER: lambda: clicked(page),
                **{name: (lambda call=call: milliseconds(call)) for name, call in others.items()},
            }
            found: dict[str, list[float]] = {name: [] for name in (BROWSER, POSTED, FRAME, *others)}
            for _ in range(times):
                for name, call in ways.items():
                    time.sleep(PAUSE_SECONDS)
                    found[name].append(call())
                time.sleep(PAUSE_SECONDS)
                answered, shown = posted(person, address, frames)
                found[POSTED].append(answered)
                found[FRAME].append(shown)
        browser.close()
    return found


def opened(context: Any, served: Site, attempt: Any, session: str) -> Page:
    """Return the workspace, right solution typed, its socket open, watched by the page's own clock."""
    context.add_cookies([{"name": "sessionid", "value": session, "url": served.address}])
    page: Page = context.new_page()
    with page.expect_websocket() as socket:
        page.goto(f"{served.address}/attempts/{attempt.pk}/")
    socket.value.wait_for_event("framereceived")
    page.locator("code-editor#solution .cm-content").click()
    page.keyboard.press("Control+A")
    page.keyboard.insert_text(PROGRAM)
    page.wait_for_function("() => document.getElementById('save').textContent.includes('revision 1')")
    page.evaluate(WATCH)
    return page


def clicked(page: Page) -> float:
    """Press the button; return the milliseconds until the page showed that everything passed."""
    page.locator("[data-run]").click()
    page.wait_for_function("() => window.measured.took !== null", polling=50)
    said = page.evaluate(SAID)
    assert "1 passed" in said, said
    return float(page.evaluate("() => window.measured.took"))


def posted(person: Person, address: str, frames: Frames) -> tuple[float, float]:
    """Run over HTTP; return the milliseconds to the answer and to the frame that shows the outcome."""
    frames.forget()
    code = {"function": PROGRAM, "module": "", "key": str(uuid4())}
    began = time.perf_counter()
    answer = person.post(f"{address}run/", code, **htmx("execution"))
    assert answer.status == 200, answer
    at = frames.wait_for(lambda text: 'data-running="false"' in text and "1 passed" in text)
    return answer.total_ms, (at - began) * 1000


if __name__ == "__main__":
    sys.exit(main())
