// Replay: links and the slider show one moment each without loading the page; without this file both load it.
"use strict";
document.addEventListener("DOMContentLoaded", () => {
  const form = document.getElementById("scrub"), events = document.getElementById("events")
  if (!form || !events) return
  const slider = form.elements.namedItem("at"), play = form.querySelector("[data-play]")
  const EVERY = 700
  let timer = 0

  function show(step) {
    slider.value = step
    form.dispatchEvent(new Event("change", { bubbles: true }))
  }

  function mark(step) {
    slider.value = step
    for (const line of events.children) {
      const here = Number(line.dataset.first) <= step && step <= Number(line.dataset.last)
      if (here) line.setAttribute("aria-current", "step")
      else line.removeAttribute("aria-current")
      if (here && events.scrollHeight > events.clientHeight) events.scrollTop = line.offsetTop - events.offsetTop - events.clientHeight / 3
    }
  }

  document.addEventListener("click", event => {
    const link = event.target.closest?.("a[data-at]")
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return
    event.preventDefault()
    show(link.dataset.at)
  })

  document.addEventListener("htmx:afterSettle", () => {
    const moment = document.getElementById("moment")
    if (moment) mark(Number(moment.dataset.at))
  })

  function stop() {
    clearInterval(timer)
    timer = 0
    play.querySelector("span").textContent = "Replay"
  }

  function next() {
    if (slider.value === slider.max) return stop()
    show(Number(slider.value) + 1)
  }

  if (slider.max !== "0") play.hidden = false
  play.addEventListener("click", () => {
    if (timer) return stop()
    if (slider.value === slider.max) show(0)
    play.querySelector("span").textContent = "Stop"
    timer = setInterval(next, EVERY)
  })
})
