// The workspace's clock: beats that tell the server somebody is here, and the face that follows what it answers.
"use strict";
(() => {
  const space = window.workspace
  if (!space) return
  const { main, element, page, paused, post, signedOut, save } = space
  const BEAT_EVERY = 15000
  const face = element("clock"), idle = Number(face.dataset.idle)
  let lastInput = null, active = Number(face.dataset.active), limit = Number(face.dataset.limit), heardAt = performance.now(), leaving = false

  for (const name of ["keydown", "pointerdown", "pointermove", "wheel", "input"]) {
    window.addEventListener(name, () => { lastInput = performance.now() }, { passive: true, capture: true })
  }

  async function beat(keepalive = false) {
    const since = lastInput === null ? "" : Math.round(performance.now() - lastInput)
    try {
      const response = await post(main.dataset.beat, { tab: page, visible: document.visibilityState === "visible", ms_since_input: since }, keepalive)
      if (signedOut(response)) document.dispatchEvent(new CustomEvent("sign-in-needed"))
      else if (response.ok) follow(await response.json())
    } catch { /* the next one says it: what is missing counts as an outage */ }
  }

  function follow(answer) {
    active = answer.active
    limit = answer.limit
    heardAt = performance.now()
    if (answer.paused !== paused && answer.state === "open") return leave()  // stopped, or let go on, in another window
    // What the panel says already needs no new page: who reads the outcome of a submission is not torn away from it.
    if (answer.state !== (element("execution")?.dataset.state || main.dataset.state) || (!answer.held && answer.state === "open")) leave()
  }

  // The attempt has come to an end, or its place is gone: keep the text, then show how things stand.
  async function leave() {
    if (leaving || document.querySelector("dialog[open]")) return
    leaving = true
    await save()
    location.reload()
  }

  function tick() {
    const now = performance.now(), running = element("execution")?.dataset.running === "true"
    const counts = !paused && !running && document.visibilityState === "visible" && (lastInput === null || now - lastInput < idle * 1000)
    const shown = Math.min(limit, active + (counts ? Math.min(now - heardAt, 2 * BEAT_EVERY) / 1000 : 0))
    const words = clock(shown)
    const digits = face.querySelector("b"), bar = face.querySelector("rect")
    if (digits.textContent !== words) digits.textContent = words
    bar?.setAttribute("width", `${Math.min(100, 100 * shown / limit).toFixed(2)}%`)
    for (const button of document.querySelectorAll("[data-from-active]")) button.disabled = shown < Number(button.dataset.fromActive)
  }

  const clock = seconds => `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`

  document.addEventListener("visibilitychange", () => beat(document.visibilityState === "hidden"))
  beat()
  setInterval(() => beat(), BEAT_EVERY)
  setInterval(tick, 500)
})()
