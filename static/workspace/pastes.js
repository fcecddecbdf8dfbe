// The workspace's pastes, in a study whose annotators agreed to it: how much came from where, never what.
"use strict";
(() => {
  const space = window.workspace, place = document.querySelector("[data-pastes]")
  if (!space || !place) return
  const EDITORS = { solution: "function", helpers: "module", scratchpad: "snippet" }, REMEMBERED = 20
  const plain = text => text.replace(/\r\n?/g, "\n").trim()
  let copied = [], waiting = [], sending = false  // what was copied here is remembered in this page only, to be known again

  const editorOf = event => event.target.closest?.("code-editor")

  for (const kind of ["copy", "cut"]) document.addEventListener(kind, event => {
    const editor = editorOf(event), text = plain(event.clipboardData?.getData("text/plain") || String(getSelection()))
    if (text) copied = [...copied.slice(1 - REMEMBERED), { text, origin: editor ? "editor" : "page" }]
  })

  function record(event, transfer) {
    const editor = editorOf(event), text = transfer?.getData("text/plain") ?? ""
    if (!editor || !text) return
    const origin = copied.findLast(each => each.text === plain(text))?.origin ?? "elsewhere"
    const key = crypto.randomUUID?.() ?? `${space.page}-${Date.now()}-${Math.random()}`
    waiting.push({ key, editor: EDITORS[editor.id] ?? "function", origin, characters: text.length, lines: text.split("\n").length })
    send()
  }

  document.addEventListener("paste", event => record(event, event.clipboardData), true)
  document.addEventListener("drop", event => record(event, event.dataTransfer), true)

  // What does not get there is sent again; the server stores a key once.
  async function send() {
    if (sending || !waiting.length) return
    sending = true
    try {
      const response = await space.post(place.dataset.pastes, waiting[0], true)
      if (response.ok && !space.signedOut(response)) waiting.shift()
      else if (response.status === 422) waiting.shift()
      else return
    } catch { return } finally { sending = false }
    send()
  }

  setInterval(send, 15000)
  document.addEventListener("signed-in", send)
})()
