// The workspace's keys. One switch turns all of them off; what a browser and the editor do by themselves stays.
"use strict";
(() => {
  const main = document.querySelector("[data-workspace]"), form = document.getElementById("work")
  if (!main || !form) return
  const element = id => document.getElementById(id)
  const kept = `benchwright:keys:${main.dataset.user}`, choice = document.querySelector("[data-keys]")
  let on = true
  try { on = localStorage.getItem(kept) !== "off" } catch { /* on, then */ }

  function turn(wanted) {
    on = wanted
    document.body.classList.toggle("keys-off", !on)
    if (choice) choice.checked = on
  }

  choice?.addEventListener("change", () => {
    turn(choice.checked)
    try { localStorage.setItem(kept, on ? "on" : "off") } catch { /* for this page only */ }
  })
  turn(on)

  const typing = target => target.closest?.("input, textarea, select, code-editor, [contenteditable]")
  const layer = () => document.querySelector("dialog[open]")

  function scratch() {
    const box = element("scratch")
    if (!box) return
    box.open = true
    element("scratchpad").scrollIntoView({ block: "nearest" })
    element("scratchpad").focus()
  }

  function find() {
    const box = document.querySelector("[data-find]")
    box?.focus()
    box?.select()
  }

  // Parts of the page in the order of reading; the one that holds the focus comes first in turn.
  function go(by) {
    const parts = [element("asked"), element("solution"), element("execution")].filter(Boolean)
    const at = parts.findLastIndex(part => part === document.activeElement || part.contains(document.activeElement))
    const next = parts[((at < 0 && by < 0 ? 0 : at) + by + parts.length) % parts.length]
    next.focus()
    next.scrollIntoView({ block: "nearest" })
  }

  function menu(selector) {
    const details = document.querySelector(selector)
    if (!details) return
    details.open = true
    ;(details.querySelector("textarea, input:not([type=hidden])") ?? details.querySelector("button"))?.focus()
  }

  const COMMANDS = {
    "'": scratch,
    "s": () => window.workspace?.save(),
    "shift+f": find,
    "shift+enter": () => menu("[data-submit-menu]"),
  }

  document.addEventListener("keydown", event => {
    if (!on || layer() || event.altKey) return
    const command = event.ctrlKey || event.metaKey, key = event.key.toLowerCase()
    if (command && key === "enter" && !event.shiftKey) {
      if (!event.target.closest?.("code-editor")) form.querySelector("[data-run]")?.click()
      return
    }
    const act = command ? COMMANDS[event.shiftKey && key.length > 1 || key === "f" ? `shift+${key}` : key]
      : key === "f6" ? () => go(event.shiftKey ? -1 : 1)
      : typing(event.target) ? null
      : { "?": () => element("keys")?.showModal(), "/": find }[event.key]
    if (!act || (command && key === "f" && !event.shiftKey)) return
    event.preventDefault()
    act()
  }, true)

  // With the keys off Ctrl Enter does nothing in the editor either.
  document.addEventListener("editor-run", event => { if (!on) { event.preventDefault(); event.stopImmediatePropagation() } }, true)
})()
