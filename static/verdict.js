// The closing form: what has changed in it is sent as it changes, and kept on this computer until the server has answered.
// Only the answers that changed travel, so two pages of one attempt do not undo one another. Without this file the form remains.
"use strict";
document.addEventListener("DOMContentLoaded", () => {
  const form = document.querySelector("form[data-draft]")
  if (!form) return

  const SAVE_AFTER = 800, RETRY_AT_MOST = 30000
  const place = document.getElementById("verdict-save")
  let timer = 0, sending = false, retry = 0, over = false, leaving = false

  function answers() {
    const found = {}
    for (const field of form.elements) {
      if (!field.name || ["csrfmiddlewaretoken", "then"].includes(field.name) || field.disabled) continue
      if (field.type === "radio") found[field.name] ??= ""
      if (field.type !== "radio" || field.checked) found[field.name] = field.value
    }
    return found
  }

  let known = answers()  // what the server has, as far as this page knows

  function changes() {
    const now = answers()
    return Object.fromEntries(Object.entries(now).filter(([name, value]) => known[name] !== value))
  }

  function say(kind, words) {
    place.className = `push save ${kind}`
    if (place.textContent !== words) place.textContent = words
  }

  function keep(changed) {
    try {
      if (Object.keys(changed).length) localStorage.setItem(form.dataset.kept, JSON.stringify(changed))
      else localStorage.removeItem(form.dataset.kept)
    } catch { /* full or forbidden: the server has it in a moment */ }
  }

  function kept() {
    try { return JSON.parse(localStorage.getItem(form.dataset.kept)) || {} } catch { return {} }
  }

  function write(changed) {
    for (const [name, value] of Object.entries(changed)) {
      const field = form.elements.namedItem(name)
      if (field) field.value = value
    }
  }

  const token = () => document.cookie.split("; ").find(pair => pair.startsWith("csrftoken="))?.slice(10) || form.elements.namedItem("csrfmiddlewaretoken").value
  const signedOut = response => response.status === 401 || (response.redirected && new URL(response.url).pathname === document.body.dataset.signIn)

  async function send(keepalive = false) {
    clearTimeout(timer)
    const changed = changes()
    if (sending || over || leaving || !Object.keys(changed).length) return
    sending = true
    say("", "Saving…")
    try {
      await answered(await fetch(form.dataset.draft, {
        method: "POST", keepalive, body: new URLSearchParams(changed), headers: { "X-CSRFToken": token(), Accept: "application/json" },
      }), changed)
    } catch {
      say("warn", "Offline: kept on this computer, tried again")
      later()
    } finally { sending = false }
  }

  async function answered(response, changed) {
    if (signedOut(response)) {
      say("warn", "Signed out: kept on this computer")
      document.dispatchEvent(new CustomEvent("sign-in-needed"))
      return later()
    }
    if ([410, 422, 429].includes(response.status)) {
      over = response.status === 410
      say("warn", (await response.json()).message)
      return over || later()
    }
    if (!response.ok) {
      say("warn", "Not saved: the server failed. Kept on this computer, tried again")
      return later()
    }
    retry = 0
    known = { ...known, ...changed }
    const left = changes()
    keep(left)
    if (Object.keys(left).length) timer = setTimeout(send, SAVE_AFTER)
    else say("ok", `Saved ${(await response.json()).saved_at}`)
  }

  function later() {
    retry = Math.min(RETRY_AT_MOST, retry ? retry * 2 : 2000)
    timer = setTimeout(send, retry)
  }

  form.addEventListener("input", () => {
    keep(changes())
    if (!sending) say("", "Not saved yet")
    clearTimeout(timer)
    timer = setTimeout(send, SAVE_AFTER)
  })
  window.addEventListener("online", () => { if (retry) send() })
  document.addEventListener("signed-in", () => send())
  window.addEventListener("pagehide", () => send(true))
  form.addEventListener("submit", () => { leaving = true })  // it takes everything along
  window.addEventListener("pageshow", () => { leaving = false })  // come back to, where it did not arrive

  const before = kept()
  if (Object.keys(before).length) {
    write(before)
    send()
  }
})
