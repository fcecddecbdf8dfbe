// The workspace: saves drafts, keeps a journal on this computer until the server has answered, sends beats, shows the clock,
// polls when the socket is silent, and knows the keys. The server decides everything; without this file the forms remain.
"use strict";
document.addEventListener("DOMContentLoaded", () => {
  const main = document.querySelector("[data-workspace]")
  const form = document.getElementById("work")
  if (!main || !form) return

  const SAVE_AFTER = 1000, BEAT_EVERY = 15000, POLL_AFTER = 5000, POLL_EVERY = 2000, RETRY_AT_MOST = 30000, KEEPALIVE_LIMIT = 60000
  const journal = `benchwright:draft:${main.dataset.user}:${main.dataset.attempt}`
  const tab = Math.random().toString(36).slice(2, 14)
  const paused = main.dataset.paused === "true"
  const element = id => document.getElementById(id)
  const field = name => form.elements.namedItem(name)

  // ---- texts

  const text = () => ({ function: field("function").value, module: field("module").value })
  const same = (one, other) => one.function === other.function && one.module === other.module

  function write(texts) {
    for (const [name, editor] of [["function", "solution"], ["module", "helpers"]]) {
      field(name).value = texts[name]
      if (element(editor)) element(editor).value = texts[name]
    }
    if (texts.module) element("helpers")?.closest("details")?.setAttribute("open", "")
  }

  // ---- what is saved

  let revision = Number(main.dataset.revision), saved = text(), timer = 0, saving = null, retry = 0, over = false

  function say(kind, words) {
    const place = element("save"), said = place.querySelector("[data-said]")
    place.className = `save ${kind}`
    if (said.textContent !== words) said.textContent = words
  }

  function keep() {
    try { localStorage.setItem(journal, JSON.stringify({ ...text(), base: revision, at: new Date().toISOString() })) } catch { /* full or forbidden */ }
  }

  function kept() {
    try { return JSON.parse(localStorage.getItem(journal)) } catch { return null }
  }

  function forget() {
    try { localStorage.removeItem(journal) } catch { /* forbidden */ }
  }

  const token = () => document.cookie.split("; ").find(pair => pair.startsWith("csrftoken="))?.slice(10) || field("csrfmiddlewaretoken").value

  function post(address, values, keepalive = false) {
    return fetch(address, {
      method: "POST", keepalive, redirect: "follow", body: new URLSearchParams(values),
      headers: { "X-CSRFToken": token(), Accept: "application/json" },
    })
  }

  const signedOut = response => response.status === 401 || (response.redirected && new URL(response.url).pathname === document.body.dataset.signIn)

  function changed() {
    if (paused) return
    if (over) return keep()  // too late for the server, not for the person
    if (same(text(), saved)) { clearTimeout(timer); forget(); return }
    keep()
    if (!saving) say("", "Not saved yet")
    clearTimeout(timer)
    timer = setTimeout(save, SAVE_AFTER)
  }

  // One save at a time; what was typed meanwhile is saved after it.
  function save(keepalive = false) {
    clearTimeout(timer)
    if (saving) return saving
    if (paused || over || same(text(), saved)) return Promise.resolve()
    const sent = text()
    const size = sent.function.length + sent.module.length
    say("", "Saving…")
    saving = post(main.dataset.draft, { ...sent, base_revision: revision }, keepalive && size < KEEPALIVE_LIMIT)
      .then(response => answered(response, sent), unreached)
      .finally(() => {
        saving = null
        if (!over && !same(text(), saved) && !retry && !element("conflict").open) timer = setTimeout(save, SAVE_AFTER)
      })
    return saving
  }

  async function answered(response, sent) {
    if (signedOut(response)) {
      say("warn", "Signed out: kept on this computer")
      element("signed-out")?.showModal()
      return later()
    }
    if (response.status === 409) return conflict(await response.json(), "Another page or computer has saved since this page was loaded.")
    if (response.status === 410) {
      over = true
      say("warn", (await response.json()).message)
      return
    }
    if ([422, 423, 429].includes(response.status)) {
      keep()
      say("warn", (await response.json()).message)
      return later()
    }
    if (!response.ok) {
      say("warn", "Not saved: the server failed. Kept on this computer, tried again")
      return later()
    }
    retry = 0
    accept(await response.json(), sent)
  }

  function accept(answer, sent) {
    revision = answer.revision
    field("base_revision").value = revision
    saved = sent
    if (same(text(), saved)) { forget(); say("ok", `Saved ${answer.saved_at}, revision ${revision}`) } else keep()
  }

  function unreached() {
    say("warn", "Offline: kept on this computer, tried again")
    later()
  }

  function later() {
    retry = Math.min(RETRY_AT_MOST, retry ? retry * 2 : 2000)
    timer = setTimeout(() => save(), retry)
  }

  window.addEventListener("online", () => { if (retry) save() })

  // ---- two texts

  function conflict(theirs, why) {
    const dialog = element("conflict"), mine = text()
    const whole = texts => texts.module.trim() ? `${texts.module}\n\n${texts.function}` : texts.function
    dialog.querySelector("[data-why]").textContent = why
    element("conflict-mine").value = whole(mine)
    element("conflict-theirs").value = whole(theirs)
    say("warn", "Two texts: choose one")
    dialog.querySelector("[data-keep=theirs]").onclick = () => { settle(theirs); write(theirs); accept(theirs, theirs); dialog.close() }
    dialog.querySelector("[data-keep=mine]").onclick = () => { settle(theirs); dialog.close(); save() }
    dialog.oncancel = event => event.preventDefault()
    if (!dialog.open) dialog.showModal()
  }

  function settle(theirs) {
    revision = theirs.revision
    saved = { function: theirs.function, module: theirs.module }
  }

  // What this computer has and the server has not: typed before a reload, a crash, or while the network was gone.
  function replay() {
    const own = kept()
    if (!own || paused) return
    if (same(own, saved)) { forget(); return }
    const theirs = { ...saved, revision, saved_at: "" }
    write(own)
    if (own.base === revision) {
      say("", "Restored from this computer")
      save()
    } else {
      conflict(theirs, `This computer holds text from ${own.at.slice(11, 16)} UTC that never reached the server, which has a newer revision.`)
    }
  }

  form.addEventListener("input", event => { if (event.target.name === "function" || event.target.name === "module") changed() })

  // ---- beats and clock

  let lastInput = null, active = Number(element("clock").dataset.active), limit = Number(element("clock").dataset.limit), heardAt = performance.now()
  const idle = Number(element("clock").dataset.idle)
  for (const name of ["keydown", "pointerdown", "pointermove", "wheel", "input"]) {
    window.addEventListener(name, () => { lastInput = performance.now() }, { passive: true, capture: true })
  }

  async function beat(keepalive = false) {
    const since = lastInput === null ? "" : Math.round(performance.now() - lastInput)
    try {
      const response = await post(main.dataset.beat, { tab, visible: document.visibilityState === "visible", ms_since_input: since }, keepalive)
      if (response.ok && !signedOut(response)) follow(await response.json())
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
    if (leave.going) return
    leave.going = true
    await save()
    location.reload()
  }

  const running = () => element("execution")?.dataset.running === "true"

  function tick() {
    const now = performance.now()
    const counts = !paused && !running() && document.visibilityState === "visible" && (lastInput === null || now - lastInput < idle * 1000)
    const shown = Math.min(limit, active + (counts ? Math.min(now - heardAt, 2 * BEAT_EVERY) / 1000 : 0))
    const minutes = Math.floor(shown / 60), words = `${minutes}:${String(Math.floor(shown % 60)).padStart(2, "0")}`
    const face = element("clock").querySelector("b"), bar = element("clock").querySelector("rect")
    if (face.textContent !== words) face.textContent = words
    bar?.setAttribute("width", `${Math.min(100, 100 * shown / limit).toFixed(2)}%`)
  }

  // ---- results: the socket, and polling when it is silent while something runs

  let lastNews = performance.now(), lastPoll = 0, listens = false
  document.addEventListener("htmx:wsOpen", () => { listens = true })
  document.addEventListener("htmx:wsClose", () => { listens = false })
  document.addEventListener("htmx:wsAfterMessage", () => { lastNews = performance.now(); look() })
  document.addEventListener("htmx:afterSettle", event => { if (event.detail.target?.id === "execution") { lastNews = performance.now(); look() } })

  // An answer that was drawn before an outcome may come in after the outcome's frame: the older of the two is dropped.
  const older = stamp => Number(stamp) < Number(element("execution")?.dataset.stamp)
  document.addEventListener("htmx:beforeSwap", event => {
    if (event.detail.target?.id !== "execution" || event.detail.xhr.status !== 200) return
    if (older(/data-stamp="(\d+)"/.exec(event.detail.serverResponse)?.[1])) event.detail.shouldSwap = false
  })
  document.addEventListener("htmx:oobBeforeSwap", event => {
    const panel = event.detail.fragment?.querySelector?.("#execution") ?? event.detail.fragment
    if (event.detail.target?.id === "execution" && older(panel?.dataset?.stamp)) event.detail.shouldSwap = false
  })

  // On a narrow page the editor fills the window: who has submitted is led to what comes of it, when it starts and ends.
  let submitted = false
  document.addEventListener("htmx:beforeRequest", event => {
    if (event.detail.elt?.matches?.("[data-closes]")) submitted = true
  })

  function lead() {
    const outcome = submitted && element("h-sub")?.closest("section")
    if (!outcome) return
    outcome.scrollIntoView({ block: "nearest" })
    if (!running()) submitted = false
  }

  function look() {
    lead()
    const state = element("execution")?.dataset.state
    if (state && state !== "open") for (const editor of form.querySelectorAll("code-editor")) editor.setAttribute("readonly", "")
    // One filled button: running, until all visible tests have passed; then submitting.
    const ready = element("execution")?.dataset.ready === "true"
    form.querySelector("[data-run]")?.classList.toggle("primary", !ready)
    document.querySelector("[data-submit-menu] > summary")?.classList.toggle("primary", ready)
    document.body.classList.toggle("ended", Boolean(state) && state !== "open")
  }

  function poll() {
    const now = performance.now()
    if (!running() || now - lastNews < POLL_AFTER || now - lastPoll < POLL_EVERY) return
    lastPoll = now
    window.htmx?.ajax("GET", main.dataset.poll, { target: "#execution", swap: "morph" })
  }

  // ---- runs: a key for each request, the newest revision, and the code of this moment

  document.addEventListener("htmx:configRequest", event => {
    if (event.detail.verb !== "post" || !event.detail.parameters.key) return
    event.detail.parameters.key = crypto.randomUUID?.() ?? `${tab}-${Date.now()}-${Math.random()}`
    event.detail.parameters.base_revision = revision
    if (listens) event.detail.parameters.listens = "yes"
    clearTimeout(timer)
  })

  // The page says at once that something runs; with a socket that is all until the server tells more.
  document.addEventListener("htmx:beforeRequest", event => {
    if (event.detail.requestConfig?.verb !== "post" || event.detail.target?.id !== "execution") return
    event.detail.target.dataset.running = "true"
    lastNews = performance.now()
  })
  for (const name of ["htmx:sendError", "htmx:responseError", "htmx:timeout"]) {
    document.addEventListener(name, () => { if (element("execution")) element("execution").dataset.running = "false" })
  }

  // A run stores the draft as well: asking to save again answers with its revision and adds nothing.
  document.addEventListener("htmx:afterRequest", event => {
    if (event.detail.requestConfig?.verb === "post" && !same(text(), saved)) save()
    event.detail.elt?.closest?.("[data-menu]")?.removeAttribute("open")
  })

  document.addEventListener("editor-run", event => {
    if (event.target.id !== "scratchpad") return
    event.preventDefault()
    form.querySelector("[data-scratch]")?.click()
  })

  // Pausing and giving up leave the page: what was typed goes first.
  for (const other of document.querySelectorAll("form[data-flush]")) {
    other.addEventListener("submit", async event => {
      if (other.dataset.flushed) return
      event.preventDefault()
      await save()
      other.dataset.flushed = "yes"
      other.requestSubmit(event.submitter)
    })
  }

  // ---- keys

  const typing = target => target.closest?.("input, textarea, select, code-editor, [contenteditable]")

  document.addEventListener("keydown", event => {
    const command = event.ctrlKey || event.metaKey
    if (event.key === "?" && !command && !typing(event.target)) { event.preventDefault(); element("keys")?.showModal() }
    if (command && event.key === "'") { event.preventDefault(); scratch() }
    if (command && event.key.toLowerCase() === "s") { event.preventDefault(); save() }
    if (command && event.key === "Enter" && !event.target.closest?.("code-editor")) form.querySelector("[data-run]")?.click()
  })

  function scratch() {
    const box = element("scratch")
    if (!box) return
    box.open = true
    element("scratchpad").scrollIntoView({ block: "nearest" })
    element("scratchpad").focus()
  }

  // ---- the page goes away

  function flush() {
    if (!same(text(), saved)) { keep(); save(true) }
  }

  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "hidden") flush()
    beat(document.visibilityState === "hidden")
  })
  window.addEventListener("pagehide", flush)

  replay()
  look()
  beat()
  setInterval(() => beat(), BEAT_EVERY)
  setInterval(() => { tick(); poll() }, 500)
})
