// Marks: what the server has to say about lines of this editor, in the gutter, on the line and in words below.
import { StateEffect, StateField } from "@codemirror/state"
import { Decoration, EditorView, showPanel } from "@codemirror/view"
import { lintGutter, setDiagnostics } from "@codemirror/lint"

const setMarks = StateEffect.define()
const SEVERITIES = new Set(["error", "warning", "info"])

const field = StateField.define({
  create: () => [],
  update(marks, transaction) {
    for (const effect of transaction.effects) if (effect.is(setMarks)) return effect.value
    return transaction.docChanged ? marks.map(mark => ({ ...mark, at: transaction.changes.mapPos(mark.at) })) : marks
  },
  provide: own => [
    EditorView.decorations.compute([own], state => Decoration.set(state.field(own).map(mark =>
      Decoration.line({ class: `cm-marked cm-marked-${mark.severity}` }).range(state.doc.lineAt(mark.at).from)), true)),
    showPanel.from(own, marks => marks.length ? view => panel(view, own) : null),
  ],
})

function panel(view, own) {
  const dom = document.createElement("div"), list = document.createElement("ul")
  dom.className = "cm-notes"
  dom.append(list)
  const draw = state => list.replaceChildren(...state.field(own).map(mark => {
    const item = document.createElement("li"), go = document.createElement("button")
    go.type = "button"
    go.textContent = `line ${state.doc.lineAt(mark.at).number}`
    go.addEventListener("click", () => {
      view.dispatch({ selection: { anchor: view.state.doc.lineAt(mark.at).from }, scrollIntoView: true })
      view.focus()
    })
    item.append(go, mark.message)
    return item
  }))
  draw(view.state)
  return { dom, update: update => { if (update.docChanged || update.startState.field(own) !== update.state.field(own)) draw(update.state) } }
}

// Takes [{line, message, severity}], line counting from 1; a line beyond the text is its last one.
export function showMarks(view, wanted) {
  const { doc } = view.state
  const marks = wanted.map(({ line, message, severity }) => {
    const number = Math.min(Math.max(1, Math.trunc(Number(line)) || 1), doc.lines)
    return { at: doc.line(number).from, message: String(message ?? ""), severity: SEVERITIES.has(severity) ? severity : "error" }
  }).sort((a, b) => a.at - b.at)
  view.dispatch({ effects: setMarks.of(marks) })
  view.dispatch(setDiagnostics(view.state, marks.map(mark => ({ from: mark.at, to: doc.lineAt(mark.at).to, message: mark.message, severity: mark.severity }))))
}

export const readMarks = view => view.state.field(field).map(({ at, message, severity }) => ({ line: view.state.doc.lineAt(at).number, message, severity }))

export const marks = [field, lintGutter()]

// An element that names an editor in data-marks-for carries its marks: items with data-line, data-message and, if it is
// not an error, data-severity. It works as <template> or <ul hidden>, whenever a swap brings it into the page.
export function marksOf(carrier) {
  return [...(carrier.content ?? carrier).querySelectorAll("[data-line]")].map(({ dataset, textContent }) =>
    ({ line: dataset.line, message: dataset.message ?? textContent.trim(), severity: dataset.severity }))
}
