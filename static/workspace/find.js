// The workspace's search in the context: all places marked, their number said, the next and the one before by keyboard.
"use strict";
(() => {
  const box = document.querySelector("[data-find]"), main = document.querySelector("[data-workspace]")
  if (!box || !main) return
  const said = document.querySelector("[data-found]"), MOST = 2000
  const marks = window.CSS && "highlights" in CSS  // without them the lines are marked
  let places = [], at = -1
  document.querySelector("[data-find-bar]").hidden = false

  // The lines of the context, wherever they stand now: beside the editor or around it.
  const lines = () => [...main.querySelectorAll("[data-context] .l, [data-around] .l")].filter(line => !line.classList.contains("hole"))

  function rangeIn(line, from, to) {
    const range = document.createRange(), walker = document.createTreeWalker(line, NodeFilter.SHOW_TEXT)
    let passed = 0, begun = false
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const end = passed + node.length
      if (!begun && from < end) { range.setStart(node, from - passed); begun = true }
      if (begun && to <= end) { range.setEnd(node, to - passed); return range }
      passed = end
    }
    return null
  }

  // Small letters find both, a capital only itself.
  function search() {
    const wanted = box.value, exact = wanted !== wanted.toLowerCase()
    places = []
    at = -1
    if (wanted) for (const line of lines()) {
      const text = exact ? line.textContent : line.textContent.toLowerCase()
      for (let from = text.indexOf(wanted); from >= 0 && places.length < MOST; from = text.indexOf(wanted, from + wanted.length)) {
        places.push({ line, range: rangeIn(line, from, from + wanted.length) })
      }
    }
    draw()
  }

  function draw() {
    for (const line of main.querySelectorAll(".l.hit, .l.cur")) line.classList.remove("hit", "cur")
    if (marks) {
      CSS.highlights.set("found", new Highlight(...places.map(place => place.range).filter(Boolean)))
      CSS.highlights.set("found-here", new Highlight(...at < 0 || !places[at].range ? [] : [places[at].range]))
    } else for (const place of places) place.line.classList.add("hit")
    if (at >= 0) places[at].line.classList.add("cur")
    said.textContent = !box.value ? "" : !places.length ? "not found" : `${at < 0 ? "" : `${at + 1} of `}${places.length}${places.length === MOST ? " or more" : ""}`
    for (const button of document.querySelectorAll("[data-find-step]")) button.disabled = !places.length
  }

  function step(by) {
    if (!places.length) return
    at = at < 0 ? (by > 0 ? 0 : places.length - 1) : (at + by + places.length) % places.length
    draw()
    places[at].line.scrollIntoView({ block: "center" })
  }

  box.addEventListener("input", () => { search(); step(1) })
  box.addEventListener("keydown", event => {
    if (event.key === "Enter") { event.preventDefault(); step(event.shiftKey ? -1 : 1) }
    if (event.key === "Escape" && box.value) { event.preventDefault(); event.stopPropagation(); box.value = ""; search() }
  })
  for (const button of document.querySelectorAll("[data-find-step]")) button.addEventListener("click", () => step(Number(button.dataset.findStep)))
  window.addEventListener("resize", draw)  // Chromium may forget marks when lines are laid out anew
  draw()
})()
