// The shell's own behaviour, for every page. Loaded before the body, so that the chosen appearance holds from the first paint.
// Everything is found by data attributes and works after htmx has swapped; docs/pages.md lists them.
"use strict";
(() => {
  const root = document.documentElement
  const kept = "benchwright-appearance"

  function appearance() {
    try { return localStorage.getItem(kept) || "system" } catch { return "system" }  // storage may be forbidden
  }

  function apply(choice) {
    if ("oneTheme" in root.dataset) return  // a page of somebody else's parts, which know one appearance only
    if (choice === "light" || choice === "dark") root.dataset.theme = choice
    else delete root.dataset.theme
  }

  apply(appearance())

  function cookie(name) {
    return document.cookie.split("; ").find(pair => pair.startsWith(name + "="))?.slice(name.length + 1) || ""
  }

  // A note from base.html's templates, at the top of the page; one of each kind at a time.
  function note(id) {
    const place = document.getElementById("messages"), template = document.getElementById(id)
    if (!place || !template) return
    place.querySelector(`[data-note="${id}"]`)?.remove()
    const copy = template.content.firstElementChild.cloneNode(true)
    copy.dataset.note = id
    place.append(copy)
  }

  // The layer over the page as it stands. It waits for a rest in typing: what goes on into a password field is lost, and an
  // Enter sends it. Who has put it away is left alone for a minute.
  const REST = 1200, LEFT_ALONE = 60000
  let putAway = -Infinity, lastKey = -Infinity, opens = 0
  window.addEventListener("keydown", () => { lastKey = performance.now() }, true)

  function askToSignIn() {
    clearTimeout(opens)
    opens = setTimeout(openLayer, Math.max(0, lastKey + REST - performance.now()))
    document.dispatchEvent(new CustomEvent("signed-out"))
  }

  function openLayer() {
    const layer = document.getElementById("signed-out")
    if (!layer || layer.open || performance.now() - putAway < LEFT_ALONE) return
    if (performance.now() - lastKey < REST) return askToSignIn()
    layer.addEventListener("close", () => { putAway = performance.now() }, { once: true })
    layer.showModal()
  }

  document.addEventListener("sign-in-needed", askToSignIn)

  // data-sign-in-here: signing in without leaving the page; where a second factor is set, its code is asked for next.
  async function signInHere(form) {
    const layer = form.closest("dialog"), said = layer.querySelector("[data-sign-in-said]"), factor = layer.querySelector("[data-second-factor]")
    const button = form.querySelector("[type=submit]")
    const send = () => fetch(form.action, {
      method: "POST", body: new URLSearchParams(new FormData(form)), headers: { "X-CSRFToken": cookie("csrftoken"), "X-Requested-With": "XMLHttpRequest" },
    })
    button.disabled = true
    try {
      if (!cookie("csrftoken")) await fetch(form.action)  // the cookie went with the session: the sign-in page sets a new one
      const answer = await send(), led = new URL(answer.url).pathname
      const told = answer.headers.get("Content-Type")?.startsWith("application/json") ? await answer.json() : {}
      const next = told.location ? new URL(told.location, location.href).pathname : answer.redirected ? led : ""
      if (next && next === new URL(factor.action).pathname) {
        form.hidden = true
        factor.hidden = false
        said.textContent = "Your password was right. One thing more:"
        factor.querySelector("[name=code]").focus()
      } else if (next && next !== document.body.dataset.signIn) {
        form.reset()
        factor.reset()
        said.textContent = ""
        factor.hidden = true
        layer.querySelector("[data-sign-in-here]").hidden = false
        layer.close()
        putAway = -Infinity
        document.dispatchEvent(new CustomEvent("signed-in"))
      } else {
        said.textContent = answer.status === 429 ? "Too many tries; wait a few minutes." : form === factor ? "This code is not right." : "This password is not right."
        form.querySelector("input:not([type=hidden]):not([readonly])").select()
      }
    } catch { said.textContent = "The server could not be reached. Try again." } finally { button.disabled = false }
  }

  document.addEventListener("submit", event => {
    if (!event.target.matches("[data-sign-in-here], [data-second-factor]")) return
    event.preventDefault()
    signInHere(event.target)
  })

  // Signing in elsewhere changes the token under an open page: the cookie is always the newest, the page's copy may not be.
  function refreshToken(form) {
    const field = form.elements?.namedItem("csrfmiddlewaretoken"), newest = cookie("csrftoken")
    if (field && newest) field.value = newest
  }

  document.addEventListener("submit", event => refreshToken(event.target), true)

  document.addEventListener("htmx:configRequest", event => {
    const newest = cookie("csrftoken")
    if (!newest) return
    event.detail.headers["X-CSRFToken"] = newest
    if (event.detail.parameters?.csrfmiddlewaretoken) event.detail.parameters.csrfmiddlewaretoken = newest
  })

  document.addEventListener("htmx:beforeSwap", event => {
    const { xhr } = event.detail, signIn = document.body.dataset.signIn
    const ledToSignIn = signIn && xhr.responseURL && new URL(xhr.responseURL).pathname === signIn
    if (xhr.status === 401 || (ledToSignIn && location.pathname !== signIn)) {
      event.detail.shouldSwap = false
      event.detail.isError = false
      askToSignIn()
    }
  })

  document.addEventListener("htmx:responseError", event => {
    const { status } = event.detail.xhr
    if (status === 403) note("note-refused")
    else if (status >= 500) note("note-fault")
  })
  document.addEventListener("htmx:sendError", () => note("note-unreached"))
  document.addEventListener("htmx:timeout", () => note("note-unreached"))
  document.addEventListener("unreached", () => note("note-unreached"))
  document.addEventListener("htmx:afterRequest", event => {
    if (event.detail.successful) document.querySelectorAll("#messages > [data-note]").forEach(old => old.remove())
  })

  document.addEventListener("change", event => {
    const field = event.target
    if (field.name === "appearance" && field.closest("[data-appearance]")) {
      apply(field.value)
      try { localStorage.setItem(kept, field.value) } catch { /* kept for this page only */ }
    }
    // data-all="ids": one box that sets every box of that name in its form or table
    if (field.dataset.all) {
      const scope = field.closest("form, table") || document
      scope.querySelectorAll(`input[type=checkbox][name="${CSS.escape(field.dataset.all)}"]:not(:disabled)`).forEach(box => {
        if (box.checked !== field.checked) { box.checked = field.checked; box.dispatchEvent(new Event("change", { bubbles: true })) }
      })
    }
    // data-send: a filter sends its form as soon as it is changed
    if (field.matches("[data-send]")) field.form?.requestSubmit()
  })

  document.addEventListener("click", event => {
    document.querySelectorAll("details[data-menu][open]").forEach(menu => { if (!menu.contains(event.target)) menu.open = false })
    const asked = event.target.closest?.("[data-print], [data-copy], [data-open]")
    if (!asked) return
    if ("print" in asked.dataset) window.print()
    if (asked.dataset.copy) copy(asked)
    if (asked.dataset.open) document.getElementById(asked.dataset.open)?.showModal()
  })

  // data-copy="id": the text of that element, or the value of that field, goes to the clipboard; the button says so
  async function copy(button) {
    const source = document.getElementById(button.dataset.copy)
    if (!source) return
    try {
      await navigator.clipboard.writeText(source.value ?? source.textContent)
      button.dataset.said ??= button.textContent
      button.textContent = "Copied"
      setTimeout(() => { button.textContent = button.dataset.said }, 2000)
    } catch { source.select?.() }  // no clipboard without https: leave it selected
  }

  document.addEventListener("keydown", event => {
    if (event.key !== "Escape") return
    const menu = document.querySelector("details[data-menu][open]")
    if (menu) { menu.open = false; menu.querySelector("summary").focus() }
  })

  document.addEventListener("DOMContentLoaded", () => {
    document.querySelectorAll("[data-appearance]").forEach(field => {
      field.hidden = false
      const chosen = field.querySelector(`[value="${appearance()}"]`)
      if (chosen) chosen.checked = true
    })
  })
})()
