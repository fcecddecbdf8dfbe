// The workspace's panes: how wide and high they are, and the function edited in its place in the file instead of beside it.
// Kept per person on this computer.
"use strict";
(() => {
  const main = document.querySelector("[data-workspace]"), split = document.querySelector("[data-split]")
  if (!main || !split) return
  const kept = name => `benchwright:${name}:${main.dataset.user}`
  const recall = name => { try { return localStorage.getItem(kept(name)) } catch { return null } }
  const remember = (name, value) => { try { value === null ? localStorage.removeItem(kept(name)) : localStorage.setItem(kept(name), value) } catch { /* for this page only */ } }

  // ---- dividers: role=separator, moved by pointer and by arrow keys; a double click or Enter brings the first measure back

  for (const divider of document.querySelectorAll("[role=separator][data-property]")) {
    const { property, unit } = divider.dataset, first = Number(divider.dataset.first)
    const least = Number(divider.getAttribute("aria-valuemin")), most = Number(divider.getAttribute("aria-valuemax"))
    const upright = divider.getAttribute("aria-orientation") === "vertical"
    let value = first

    function set(wanted, keep = true) {
      value = Math.round(Math.min(most, Math.max(least, wanted)) * 10) / 10
      split.style.setProperty(property, `${value}${unit}`)
      divider.setAttribute("aria-valuenow", Math.round(value))
      divider.setAttribute("aria-valuetext", `${Math.round(value)} ${divider.dataset.words}`)
      if (keep) remember(property, value)
    }

    function reset() {
      set(first, false)
      split.style.removeProperty(property)
      remember(property, null)
    }

    const measured = event => {
      if (upright) return 100 * (event.clientX - split.getBoundingClientRect().left) / split.clientWidth
      const above = divider.previousElementSibling.getBoundingClientRect()
      return (event.clientY - above.top) / parseFloat(getComputedStyle(document.documentElement).fontSize)
    }

    divider.addEventListener("pointerdown", event => {
      event.preventDefault()
      divider.focus()
      divider.setPointerCapture(event.pointerId)
    })
    divider.addEventListener("pointermove", event => { if (divider.hasPointerCapture(event.pointerId)) set(measured(event)) })
    divider.addEventListener("dblclick", reset)
    divider.addEventListener("keydown", event => {
      const step = (event.shiftKey ? 10 : 2) * ({ [upright ? "ArrowLeft" : "ArrowUp"]: -1, [upright ? "ArrowRight" : "ArrowDown"]: 1 }[event.key] ?? 0)
      if (step) set(value + step)
      else if (event.key === "Home") set(least)
      else if (event.key === "End") set(most)
      else if (event.key === "Enter") reset()
      else return
      event.preventDefault()
    })
    divider.hidden = false
    const before = Number(recall(property))
    if (before) set(before, false)
  }

  // ---- in place: the same lines of the context, moved around the editor; the results take their room on the left

  const button = document.querySelector("[data-in-place]"), context = document.querySelector("[data-context] code")
  const results = document.getElementById("execution")?.parentElement
  if (!button || !context || !results) return
  const lines = [...context.children], hole = lines.findIndex(line => line.classList.contains("hole"))
  const header = lines.findIndex(line => line.classList.contains("foc")), helpers = Number(context.closest("[data-context]").dataset.helpers) - 1
  const parts = { before: lines.slice(0, helpers), between: lines.slice(helpers, header), after: lines.slice(hole + 1) }

  // One column has no left: there the results stay behind the editor.
  const narrow = matchMedia("(width < 60rem)")
  narrow.addEventListener("change", () => show(main.classList.contains("in-place")))

  function show(inPlace) {
    button.setAttribute("aria-pressed", inPlace)
    main.classList.toggle("in-place", inPlace)
    document.getElementById("solution").style.setProperty("--shift", inPlace ? `${document.getElementById("solution").dataset.indent}ch` : "0ch")
    if (inPlace) {
      for (const [name, part] of Object.entries(parts)) {
        const place = document.querySelector(`[data-around=${name}]`)
        place.querySelector("code").replaceChildren(...part)
        place.hidden = !part.length
      }
    } else {
      context.replaceChildren(...lines)
      for (const place of document.querySelectorAll("[data-around]")) place.hidden = true
    }
    const execution = document.getElementById("execution"), compare = document.getElementById("run_changes")
    const home = inPlace && !narrow.matches ? document.getElementById("asked") : results
    home.append(execution, ...compare ? [compare] : [])
  }

  function settle() {
    const function_ = document.getElementById("solution")
    if (main.classList.contains("in-place")) function_?.scrollIntoView({ block: "center" })
  }

  button.hidden = false
  button.addEventListener("click", () => {
    const inPlace = button.getAttribute("aria-pressed") !== "true"
    show(inPlace)
    remember("in-place", inPlace ? "yes" : null)
    settle()
  })
  if (recall("in-place")) { show(true); requestAnimationFrame(settle) }
})()
