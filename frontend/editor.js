// <code-editor label language readonly>: a <textarea> made into a code editor; without script the textarea remains.
// It draws in its own shadow root, where CodeMirror adopts constructed style sheets: a strict style-src needs no nonce,
// and a morph of the page around it leaves text, cursor and undo alone. docs/pages.md says how to use it.
import { closeBrackets, closeBracketsKeymap } from "@codemirror/autocomplete"
import { defaultKeymap, history, historyKeymap, indentLess, indentMore } from "@codemirror/commands"
import { python } from "@codemirror/lang-python"
import { StreamLanguage, bracketMatching, indentOnInput, indentUnit } from "@codemirror/language"
import { cpp } from "@codemirror/legacy-modes/mode/clike"
import { javascript } from "@codemirror/legacy-modes/mode/javascript"
import { lintKeymap } from "@codemirror/lint"
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search"
import { Compartment, EditorSelection, EditorState } from "@codemirror/state"
import { EditorView, drawSelection, highlightActiveLine, highlightActiveLineGutter, highlightSpecialChars, keymap, lineNumbers } from "@codemirror/view"
import { frame, look, pythonLook } from "./look.js"
import { marks, marksOf, readMarks, showMarks } from "./marks.js"

// Python has a grammar; of the others it is enough to know words, texts and comments, in a tenth of the bytes.
const LANGUAGES = {
  python: () => [python(), pythonLook],
  javascript: () => StreamLanguage.define(javascript),
  cpp: () => StreamLanguage.define(cpp),
}
const HOW_TO_LEAVE = "Tab indents. Press Escape, then Tab, to leave the editor."
const LEAVES_NOW = "Tab now leaves the editor."

// At a cursor Tab goes to the next stop; with a selection it moves the lines.
function tab(view) {
  const { state } = view, unit = state.facet(indentUnit)
  if (state.readOnly) return false
  if (state.selection.ranges.some(range => !range.empty)) return indentMore(view)
  view.dispatch(state.update(state.changeByRange(range => {
    const column = range.head - state.doc.lineAt(range.head).from
    const insert = unit === "\t" ? unit : " ".repeat(unit.length - column % unit.length)
    return { changes: { from: range.head, insert }, range: EditorSelection.cursor(range.head + insert.length) }
  }), { scrollIntoView: true, userEvent: "input" }))
  return true
}

class CodeEditor extends HTMLElement {
  static formAssociated = true
  static observedAttributes = ["readonly"]

  constructor() {
    super()
    this.attachInternals()
    this.locked = new Compartment()
    this.attachShadow({ mode: "open", delegatesFocus: true }).adoptedStyleSheets = [frame]
    // No page shortcut may fire while someone types: plain keys end here.
    this.addEventListener("keydown", event => { if (!event.ctrlKey && !event.metaKey && !event.altKey) event.stopPropagation() })
  }

  connectedCallback() {
    // A parser that has not reached the textarea yet calls this too early; it is there a moment later.
    if (!this.querySelector("textarea")) { queueMicrotask(() => { if (this.isConnected && !this.view) this.draw() }); return }
    this.draw()
  }

  draw() {
    if (this.view) return
    const source = this.source = this.querySelector("textarea") ?? this.appendChild(document.createElement("textarea"))
    const way = element("div", "way"), hint = element("div", "said"), place = element("div", "frame")
    way.setAttribute("role", "status")
    hint.id = "hint"
    hint.textContent = HOW_TO_LEAVE
    this.shadowRoot.replaceChildren(hint, place, way)
    this.view = new EditorView({
      parent: place,
      root: this.shadowRoot,
      state: EditorState.create({ doc: source.value, extensions: this.extensions(source, way) }),
    })
    this.closest("form")?.addEventListener("submit", this.forget)
    for (const carrier of document.querySelectorAll(`[data-marks-for="${CSS.escape(this.id)}"]`)) this.marks = marksOf(carrier)
  }

  extensions(source, way) {
    const unit = /^\t/m.test(source.value) ? "\t" : "    "
    const leaving = on => view => { view.setTabFocusMode(on); way.textContent = on ? LEAVES_NOW : "" }
    return [
      marks, lineNumbers(), highlightActiveLineGutter(), highlightSpecialChars(), history(), drawSelection(), indentOnInput(),
      bracketMatching(), closeBrackets(), highlightActiveLine(), highlightSelectionMatches(), search({ top: true }),
      indentUnit.of(unit), EditorState.tabSize.of(4), EditorState.allowMultipleSelections.of(true), look,
      LANGUAGES[this.getAttribute("language") ?? "python"]?.() ?? [],
      this.locked.of(this.lock()),
      EditorView.contentAttributes.of({ "aria-label": this.getAttribute("label") ?? source.getAttribute("aria-label") ?? "Code", "aria-describedby": "hint", tabindex: "0" }),
      EditorView.domEventObservers({
        keydown: (event, view) => {
          if (event.key === "Escape") leaving(true)(view)
          else if (event.key !== "Tab" && event.key !== "Shift") leaving(false)(view)
        },
        blur: (_, view) => leaving(false)(view),
        mousedown: (_, view) => leaving(false)(view),
      }),
      keymap.of([
        { key: "Mod-Enter", run: () => this.run() },
        { key: "Tab", run: tab, shift: indentLess },
        ...closeBracketsKeymap, ...searchKeymap, ...historyKeymap, ...lintKeymap, ...defaultKeymap,
      ]),
      EditorView.updateListener.of(update => {
        if (!update.docChanged) return
        source.value = update.state.doc.toString()
        source.dispatchEvent(new Event("input", { bubbles: true }))
      }),
    ]
  }

  lock() {
    return this.hasAttribute("readonly") || this.disabledByForm ? EditorState.readOnly.of(true) : []
  }

  // The page may answer editor-run itself; unless it does, the form's element with data-run is pressed.
  run() {
    this.forget()
    const form = this.closest("form")
    if (this.dispatchEvent(new CustomEvent("editor-run", { bubbles: true, cancelable: true }))) {
      [...(form?.elements ?? [])].find(control => "run" in control.dataset)?.click()
    }
    return true
  }

  forget = () => { this.marks = [] }

  get marks() { return this.view ? readMarks(this.view) : [] }
  set marks(wanted) { if (this.view) showMarks(this.view, wanted) }

  get value() { return this.view ? this.view.state.doc.toString() : this.querySelector("textarea")?.value ?? "" }
  set value(text) {
    if (!this.view) { const source = this.querySelector("textarea"); if (source) source.value = text; return }
    if (text === this.value) return
    this.view.dispatch({ changes: { from: 0, to: this.view.state.doc.length, insert: text } })
  }

  focus() { this.view?.focus() }
  formResetCallback() { this.value = this.source?.defaultValue ?? "" }
  formDisabledCallback(disabled) { this.disabledByForm = disabled; this.attributeChangedCallback() }
  attributeChangedCallback() { this.view?.dispatch({ effects: this.locked.reconfigure(this.lock()) }) }

  disconnectedCallback() {
    this.view?.destroy()
    this.view = null
  }
}

function element(name, css) {
  const made = document.createElement(name)
  made.className = css
  return made
}

customElements.define("code-editor", CodeEditor)

function carry(carrier) {
  const editor = document.getElementById(carrier.dataset.marksFor)
  if (editor instanceof CodeEditor) editor.marks = marksOf(carrier)
}

// Swaps bring carriers of marks into the page at any time, new or with changed content.
new MutationObserver(records => {
  const carriers = new Set()
  for (const { target, addedNodes } of records) {
    const around = target.nodeType === Node.ELEMENT_NODE ? target.closest("[data-marks-for]") : null
    if (around) carriers.add(around)
    for (const node of addedNodes) {
      if (node.nodeType !== Node.ELEMENT_NODE) continue
      if (node.matches("[data-marks-for]")) carriers.add(node)
      node.querySelectorAll("[data-marks-for]").forEach(inside => carriers.add(inside))
    }
  }
  carriers.forEach(carry)
}).observe(document.documentElement, { childList: true, subtree: true, attributeFilter: ["data-line", "data-message"] })
