// The workspace's drafts: saved as one types, kept in a journal on this computer until the server has answered, replayed
// afterwards; two texts become a question. The server decides everything; without this file the forms remain.
// The other files of this folder find here what they share: window.workspace.
"use strict";
(() => {
  const main = document.querySelector("[data-workspace]")
  const form = document.getElementById("work")
  if (!main || !form) return

  const SAVE_AFTER = 1000, RETRY_AT_MOST = 15000, KEEPALIVE_LIMIT = 60000, ANSWERS_WITHIN = 150, MARKS = 500, REST = 1200
  // A page's journal is its own: what another window of the same attempt has not saved yet is not ours to remove.
  const page = Math.random().toString(36).slice(2, 14)
  const shelf = `benchwright:draft:${main.dataset.user}:${main.dataset.attempt}`
  const journal = `${shelf}:${page}`, jotter = `benchwright:snippet:${main.dataset.user}:${main.dataset.attempt}`
  const paused = main.dataset.paused === "true"
  const element = id => document.getElementById(id)
  const field = name => form.elements.namedItem(name)

  // ---- texts

  const plain = value => value.replace(/\r\n?/g, "\n")
  const text = () => ({ function: plain(field("function").value), module: plain(field("module").value) })
  const same = (one, other) => one.function === other.function && one.module === other.module

  // A short mark of a text (cyrb53), to know our own again among what was sent and never answered.
  function mark(texts) {
    let high = 0xdeadbeef, low = 0x41c6ce57
    for (const letter of `${texts.function}\0${texts.module}`) {
      const code = letter.codePointAt(0)
      high = Math.imul(high ^ code, 2654435761)
      low = Math.imul(low ^ code, 1597334677)
    }
    high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909)
    low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909)
    return `${texts.function.length}.${texts.module.length}.${4294967296 * (2097151 & low) + (high >>> 0)}`
  }

  function write(texts) {
    for (const [name, editor] of [["function", "solution"], ["module", "helpers"]]) {
      field(name).value = texts[name]
      if (element(editor)) element(editor).value = texts[name]
    }
    if (texts.module) element("helpers")?.closest("details")?.setAttribute("open", "")
  }

  // ---- the journal

  let holds = true  // whether this browser keeps anything

  function keep() {
    const entry = { ...text(), base: revision, at: new Date().toISOString(), sent: unanswered }
    try { localStorage.setItem(journal, JSON.stringify(entry)); holds = true } catch { holds = false }
  }

  function drop(key) {
    try { localStorage.removeItem(key) } catch { /* forbidden */ }
  }

  const here = () => holds ? "kept on this computer" : "this browser keeps nothing, so leave the page open"

  // What pages that are gone have left: typed before a crash, or while the network was away. Oldest first.
  function orphans(alive) {
    const found = []
    try {
      for (const key of Object.keys(localStorage)) {
        if (key !== shelf && !key.startsWith(`${shelf}:`)) continue
        if (key === journal || alive.has(key.slice(shelf.length + 1))) continue
        found.push({ key, ...JSON.parse(localStorage.getItem(key)) })
      }
    } catch { /* forbidden, or not ours */ }
    return found.sort((one, other) => one.at < other.at ? -1 : 1)
  }

  // ---- what is saved

  let revision = Number(main.dataset.revision), saved = text(), timer = 0, saving = null, retry = 0, over = false
  let unanswered = [], left = [], asking = false, lastKey = -Infinity
  window.addEventListener("keydown", () => { lastKey = performance.now() }, true)

  function say(kind, words) {
    const place = element("save"), said = place.querySelector("[data-said]")
    place.className = `save ${kind}`
    if (said.textContent !== words) said.textContent = words
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
    if (same(text(), saved)) { clearTimeout(timer); drop(journal); return }
    keep()
    if (asking) return
    if (!saving && !retry) say("", holds ? "Not saved yet" : `Not saved yet; ${here()}`)
    if (retry && timer) return  // the next try is due anyway
    clearTimeout(timer)
    timer = setTimeout(save, SAVE_AFTER)
  }

  // One save at a time; what was typed meanwhile is saved after it.
  function save(keepalive = false) {
    clearTimeout(timer)
    timer = 0
    if (saving) return saving
    if (paused || over || asking || same(text(), saved)) return Promise.resolve()
    const sent = text(), size = sent.function.length + sent.module.length
    unanswered = [...unanswered.filter(each => each !== mark(sent)), mark(sent)].slice(-MARKS)
    keep()
    say("", "Saving…")
    saving = post(main.dataset.draft, { ...sent, base_revision: revision }, keepalive === true && size < KEEPALIVE_LIMIT)
      .then(response => answered(response, sent), unreached)
      .finally(() => {
        saving = null
        if (!timer && !over && !asking && !same(text(), saved) && !retry) timer = setTimeout(save, SAVE_AFTER)
      })
    return saving
  }

  async function answered(response, sent) {
    if (signedOut(response)) {
      unanswered = unanswered.filter(each => each !== mark(sent))
      say("warn", `Signed out: ${here()}`)
      document.dispatchEvent(new CustomEvent("sign-in-needed"))
      return later()
    }
    if (response.status === 409) return differs(await response.json())
    if (response.status === 410) {
      over = true
      keep()
      say("warn", (await response.json()).message)
      return
    }
    if ([422, 423, 429].includes(response.status)) {
      unanswered = unanswered.filter(each => each !== mark(sent))
      keep()
      say("warn", (await response.json()).message)
      return later()
    }
    if (response.status === 404) {
      say("warn", `Somebody else is signed in here: ${here()}`)
      return later()
    }
    if (!response.ok) {
      say("warn", `Not saved: the server failed; ${here()}, tried again`)
      return later()
    }
    retry = 0
    accept(await response.json(), sent)
  }

  function accept(answer, sent) {
    settle({ ...answer, ...sent })
    if (!same(text(), saved)) return keep()
    drop(journal)
    say("ok", answer.saved_at ? `Saved ${answer.saved_at}, revision ${revision}` : "Nothing to save yet")
    adopt()
  }

  // What the server holds, and upon which revision the next save goes.
  function settle(stored) {
    revision = stored.revision
    field("base_revision").value = revision
    saved = { function: stored.function, module: stored.module }
    unanswered = []
  }

  function unreached() {
    say("warn", `Offline: ${here()}, tried again`)
    later()
  }

  function later() {
    keep()
    retry = Math.min(RETRY_AT_MOST, retry ? retry * 2 : 1000)
    clearTimeout(timer)
    timer = setTimeout(() => save(), retry)
  }

  function now() {
    if (saving || asking) return
    retry = 0
    save()
  }

  window.addEventListener("online", now)
  document.addEventListener("signed-in", now)

  // ---- two texts

  // A save of ours whose answer was lost is no other page's: go on upon it. Else only the person knows.
  function differs(theirs) {
    retry = 0
    if (unanswered.includes(mark(theirs))) {
      settle(theirs)
      keep()
      timer = setTimeout(save, 0)
      return
    }
    // Who is typing is asked at the next rest, with the difference as it is then.
    if (performance.now() - lastKey < REST) {
      say("warn", `Two texts: ${here()}; you are asked when you pause`)
      timer = setTimeout(save, REST)
      return
    }
    conflict(theirs)
  }

  function conflict(theirs) {
    const dialog = element("conflict"), mine = text()
    const whole = texts => texts.module.trim() ? `${texts.module}\n\n${texts.function}` : texts.function
    asking = true
    keep()
    element("conflict-diff").innerHTML = theirs.diff  // the server's own markup, escaped there
    element("conflict-mine").value = whole(mine)
    element("conflict-theirs").value = whole(theirs)
    dialog.querySelector("[data-saved]").textContent = `revision ${theirs.revision}, saved ${theirs.saved_at}`
    say("warn", "Two texts: choose one")
    // Whichever is chosen, both become revisions: the other one first.
    dialog.querySelector("[data-keep=theirs]").onclick = async () => {
      decided(theirs)
      await save()
      if (!same(saved, mine)) return asking || conflict(theirs)  // it did not get there: ask again
      write(theirs)
      save()
    }
    dialog.querySelector("[data-keep=mine]").onclick = () => { decided(theirs); save() }
    dialog.oncancel = event => event.preventDefault()
    if (!dialog.open) dialog.showModal()
  }

  function decided(theirs) {
    asking = false
    settle(theirs)
    element("conflict").close()
  }

  // ---- what is left of pages that are gone

  const air = "BroadcastChannel" in window ? new BroadcastChannel(shelf) : null
  const alive = new Set()
  air?.addEventListener("message", ({ data }) => {
    if (data.asks) air.postMessage({ lives: page })
    if (data.lives) alive.add(data.lives)
  })

  function replay() {
    if (paused) return
    air?.postMessage({ asks: page })
    setTimeout(() => { left = orphans(alive); adopt() }, ANSWERS_WITHIN)
  }

  // One after the other, each saved or decided upon before the next.
  function adopt() {
    if (saving && !same(text(), saved)) return  // its end comes back here
    const own = left.shift()
    if (!own) return
    if (same(own, saved)) { drop(own.key); return adopt() }
    if (!same(text(), saved)) { left.unshift(own); return }
    write(own)
    revision = own.base
    unanswered = own.sent ?? []
    keep()
    if (holds) drop(own.key)
    say("", "Restored from this computer")
    setTimeout(save, 0)
  }

  form.addEventListener("input", event => {
    if (event.target.name === "function" || event.target.name === "module") changed()
    if (event.target.name === "snippet") try { localStorage.setItem(jotter, event.target.value) } catch { /* full or forbidden */ }
  })

  // The snippet is nobody's answer and no draft: this computer alone keeps it.
  function recall() {
    const snippet = field("snippet")
    if (!snippet || snippet.value) return
    try { snippet.value = localStorage.getItem(jotter) ?? "" } catch { return }
    if (!snippet.value) return
    if (element("scratchpad")) element("scratchpad").value = snippet.value
    element("scratch").open = true
  }

  // ---- the page goes away

  function flush() {
    if (same(text(), saved)) return
    keep()
    if (!saving) save(true)
  }

  document.addEventListener("visibilitychange", () => { if (document.visibilityState === "hidden") flush() })
  window.addEventListener("pagehide", flush)
  window.addEventListener("beforeunload", event => { if (!holds && !paused && !same(text(), saved)) event.preventDefault() })

  // What leaves the page goes only where it will arrive: else the words in its fields would be gone with the page.
  async function arrives() {
    try {
      const answer = await fetch(main.dataset.poll, { headers: { "HX-Request": "true" } })
      if (!signedOut(answer)) return true
      document.dispatchEvent(new CustomEvent("sign-in-needed"))
    } catch { document.dispatchEvent(new CustomEvent("unreached")) }
    return false
  }

  // Pausing and giving up leave the page: what was typed goes first.
  for (const other of document.querySelectorAll("form[data-flush]")) {
    other.addEventListener("submit", async event => {
      if (other.dataset.flushed) return
      event.preventDefault()
      await save()
      if (asking || !await arrives()) return
      other.dataset.flushed = "yes"
      setTimeout(() => other.requestSubmit(event.submitter))  // not within this very event: a form ignores that
    })
  }

  window.workspace = {
    main, form, page, paused, element, field, text, post, signedOut, save,
    get revision() { return revision },
    get unsaved() { return !same(text(), saved) },
    hold: () => clearTimeout(timer),
  }
  recall()
  replay()
})()
