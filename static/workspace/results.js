// The workspace's results: runs and submissions are asked for once each, and come by socket, or by polling where it is silent.
"use strict";
(() => {
  const space = window.workspace
  if (!space) return
  const { main, form, page, element, text, save } = space
  const POLL_AFTER = 5000, POLL_EVERY = 2000
  const running = () => element("execution")?.dataset.running === "true"

  // ---- news

  let lastNews = performance.now(), lastPoll = 0, listens = false, socket = null, doubt = false
  document.addEventListener("htmx:wsOpen", event => { listens = true; socket = event.detail.socketWrapper })
  document.addEventListener("htmx:wsClose", () => { listens = false })
  document.addEventListener("htmx:wsAfterMessage", () => { lastNews = performance.now(); look() })
  document.addEventListener("htmx:afterSettle", event => { if (event.detail.target?.id === "execution") { lastNews = performance.now(); look() } })
  document.addEventListener("signed-in", () => { if (!listens) socket?.reconnect(); poll(true) })

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

  // Who has submitted is led to what comes of it, when it starts and ends: on a narrow page the editor fills the window.
  let submitted = false

  function lead() {
    const outcome = submitted && element("h-sub")?.closest("section")
    if (!outcome) return
    outcome.scrollIntoView({ block: "nearest" })
    if (!running()) submitted = false
  }

  function look() {
    lead()
    elapse()
    const state = element("execution")?.dataset.state
    if (state && state !== "open") for (const editor of form.querySelectorAll("code-editor")) editor.setAttribute("readonly", "")
    // One filled button: running, until all visible tests have passed; then submitting.
    const ready = element("execution")?.dataset.ready === "true"
    form.querySelector("[data-run]")?.classList.toggle("primary", !ready)
    document.querySelector("[data-submit-menu] > summary")?.classList.toggle("primary", ready)
    document.body.classList.toggle("ended", Boolean(state) && state !== "open")
  }

  function poll(anyway = false) {
    const now = performance.now()
    if (!anyway && (!(running() || doubt) || now - lastNews < POLL_AFTER || now - lastPoll < POLL_EVERY)) return
    lastPoll = now
    window.htmx?.ajax("GET", main.dataset.poll, { target: "#execution", swap: "morph" })
  }

  // ---- how long a run has taken so far: the server's figure, carried on by this page's own clock until the next one

  let since = { place: null, told: "", at: 0 }

  function elapse() {
    const place = document.querySelector("#execution [data-elapsed]")
    if (!place) return
    const told = `${element("execution").dataset.stamp}/${place.dataset.elapsed}`
    if (since.place !== place || since.told !== told) since = { place, told, at: performance.now() }
    const seconds = Number(place.dataset.elapsed) + (performance.now() - since.at) / 1000, most = Number(place.dataset.limit)
    place.querySelector("b").textContent = `${Math.min(seconds, most).toFixed(1)} s`
    place.querySelector("rect")?.setAttribute("width", `${Math.min(100, 100 * seconds / most).toFixed(1)}%`)
  }

  // ---- runs: the code of this moment with its hash, and one key until it is known that it arrived

  const asked = new Map()  // address: the request that has no answer yet

  async function fingerprint(texts) {
    if (!crypto.subtle) return ""  // no secure context: the server's own hash is shown all the same
    const bytes = new TextEncoder().encode(`${texts.function}\0${texts.module}`)
    return [...new Uint8Array(await crypto.subtle.digest("SHA-256", bytes))].map(byte => byte.toString(16).padStart(2, "0")).join("")
  }

  const isRun = detail => detail.verb === "post" && Boolean(form.elements.namedItem("key")) && detail.target?.id === "execution"

  document.addEventListener("htmx:confirm", event => {
    if (!isRun(event.detail)) return
    event.preventDefault()
    const texts = text(), snippet = form.elements.namedItem("snippet")?.value ?? ""
    const same = each => each && each.function === texts.function && each.module === texts.module && each.snippet === snippet
    fingerprint(texts).then(sha256 => {
      const before = asked.get(event.detail.path)
      const key = same(before) ? before.key : crypto.randomUUID?.() ?? `${page}-${Date.now()}-${Math.random()}`
      asked.set(event.detail.path, { ...texts, snippet, sha256, key })
      event.detail.issueRequest(true)
    })
  })

  document.addEventListener("htmx:configRequest", event => {
    const request = asked.get(event.detail.path)
    if (event.detail.verb !== "post" || !request) return
    const { parameters } = event.detail
    for (const name of ["function", "module", "key"]) parameters[name] = request[name]
    if (request.sha256) parameters.sha256 = request.sha256
    parameters.base_revision = space.revision
    if (listens) parameters.listens = "yes"
    space.hold()
  })

  // The page says at once that something runs; with a socket that is all until the server tells more.
  document.addEventListener("htmx:beforeRequest", event => {
    if (event.detail.requestConfig?.verb !== "post" || event.detail.target?.id !== "execution") return
    event.detail.target.dataset.running = "true"
    lastNews = performance.now()
    if (event.detail.elt?.matches?.("[data-closes]")) submitted = true
  })
  for (const name of ["htmx:sendError", "htmx:responseError", "htmx:timeout"]) {
    document.addEventListener(name, event => {
      if (event.detail.target?.id !== "execution") return
      if (element("execution")) element("execution").dataset.running = "false"
      // It may have arrived all the same: ask until the server says so. Pressing again is the same request.
      if (event.detail.requestConfig?.verb === "post") doubt = true
    })
  }

  document.addEventListener("htmx:afterRequest", event => {
    const { requestConfig, xhr, target } = event.detail
    if (target?.id === "execution" && xhr?.status >= 200 && xhr.status < 300) doubt = false
    if (requestConfig?.verb !== "post") return
    const known = xhr?.status > 0 && xhr.status < 500 && xhr.status !== 401 && xhr.status !== 403
    if (known && !space.signedOut({ status: xhr.status, redirected: true, url: xhr.responseURL || location.href })) asked.delete(requestConfig.path)
    // A run stores the draft as well: asking to save again answers with its revision and adds nothing.
    if (space.unsaved) save()
    event.detail.elt?.closest?.("[data-menu]")?.removeAttribute("open")
  })

  document.addEventListener("editor-run", event => {
    if (event.target.id !== "scratchpad") return
    event.preventDefault()
    form.querySelector("[data-scratch]")?.click()
  })

  look()
  setInterval(() => { poll() }, 500)
  setInterval(() => { if (running()) elapse() }, 100)
})()
