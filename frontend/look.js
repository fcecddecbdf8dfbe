// How the editor looks: everything from the page's tokens (static/site.css), so it follows the appearance without script.
import { HighlightStyle, syntaxHighlighting, syntaxTree } from "@codemirror/language"
import { Decoration, EditorView, ViewPlugin } from "@codemirror/view"
import { tags as t } from "@lezer/highlight"

// The same six colours that the server's Pygments classes have.
const highlight = HighlightStyle.define([
  { tag: [t.keyword, t.operatorKeyword, t.bool, t.null], color: "var(--hl-kw)" },
  { tag: [t.string, t.special(t.string), t.escape], color: "var(--hl-str)" },
  { tag: t.number, color: "var(--hl-num)" },
  { tag: t.comment, color: "var(--hl-com)", fontStyle: "italic" },
  { tag: [t.function(t.definition(t.variableName)), t.definition(t.className), t.meta], color: "var(--hl-fn)" },
])

// Pygments colours names that Python itself provides; Lezer's grammar does not know them.
const PROVIDED = new Set(`abs aiter all anext any ascii bin bool breakpoint bytearray bytes callable chr classmethod compile
 complex delattr dict dir divmod enumerate eval filter float format frozenset getattr globals hasattr hash hex id input int
 isinstance issubclass iter len list locals map max memoryview min next object oct open ord pow print property range repr
 reversed round set setattr slice sorted staticmethod str sum super tuple type vars zip __import__ ArithmeticError
 AssertionError AttributeError BaseException Exception EOFError FileNotFoundError FloatingPointError ImportError IndexError
 IsADirectoryError KeyError KeyboardInterrupt LookupError MemoryError ModuleNotFoundError NameError NotImplementedError
 OSError OverflowError PermissionError RecursionError RuntimeError StopAsyncIteration StopIteration SyntaxError SystemExit
 TimeoutError TypeError UnboundLocalError UnicodeDecodeError UnicodeEncodeError UnicodeError ValueError ZeroDivisionError
 BaseExceptionGroup ExceptionGroup Warning UserWarning DeprecationWarning RuntimeWarning`.split(/\s+/))
const provided = Decoration.mark({ class: "cm-provided" })
const itself = Decoration.mark({ class: "cm-itself" })
const keyword = Decoration.mark({ class: "cm-word" })

function names(view) {
  const marks = []
  for (const { from, to } of view.visibleRanges) {
    syntaxTree(view.state).iterate({
      from, to,
      enter(node) {
        if (node.name === "async") marks.push(keyword.range(node.from, node.to))
        if (node.name !== "VariableName") return
        const text = view.state.sliceDoc(node.from, node.to)
        if (text === "self" || text === "cls") marks.push(itself.range(node.from, node.to))
        else if (PROVIDED.has(text) || node.node.parent?.name === "Decorator") marks.push(provided.range(node.from, node.to))
      },
    })
  }
  return Decoration.set(marks, true)
}

const pythonNames = ViewPlugin.fromClass(class {
  constructor(view) { this.decorations = names(view) }
  update(update) {
    if (update.docChanged || update.viewportChanged || syntaxTree(update.startState) !== syntaxTree(update.state)) this.decorations = names(update.view)
  }
}, { decorations: plugin => plugin.decorations })

const theme = EditorView.theme({
  "&": { color: "var(--fg)", backgroundColor: "var(--code-bg)", fontSize: "var(--t-s)", minHeight: "inherit", maxHeight: "inherit" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.55", fontVariantLigatures: "none" },
  ".cm-content": { padding: "var(--s2) 0", caretColor: "var(--fg)" },
  // --shift: the columns that stand before the function in its file, where the page shows it there
  ".cm-line": { padding: "0 var(--s4) 0 calc(var(--s2) + var(--shift, 0ch))" },
  ".cm-gutters": { backgroundColor: "var(--code-bg)", color: "var(--code-gutter)", border: "none" },
  ".cm-lineNumbers .cm-gutterElement": { minWidth: "1.5rem", padding: "0 .4rem 0 0" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--code-active)", color: "inherit" },
  ".cm-cursor, .cm-dropCursor": { borderLeftColor: "var(--fg)", borderLeftWidth: "2px" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "var(--code-sel)" },
  ".cm-selectionMatch": { backgroundColor: "var(--warn-wash)" },
  ".cm-matchingBracket, &.cm-focused .cm-matchingBracket": { backgroundColor: "transparent", outline: "1px solid var(--control)" },
  ".cm-nonmatchingBracket, &.cm-focused .cm-nonmatchingBracket": { backgroundColor: "transparent", outline: "1px solid var(--bad)" },
  ".cm-specialChar": { color: "var(--flag)" },
  ".cm-searchMatch": { backgroundColor: "var(--warn-wash)", outline: "1px solid var(--warn)" },
  ".cm-searchMatch-selected": { backgroundColor: "var(--code-sel)" },
  ".cm-provided": { color: "var(--hl-fn)" },
  ".cm-itself": { color: "var(--hl-num)" },
  ".cm-word": { color: "var(--hl-kw)" },
  ".cm-marked": { backgroundColor: "var(--bad-wash)", boxShadow: "inset 3px 0 var(--bad)" },
  ".cm-marked-warning, .cm-marked-info": { backgroundColor: "var(--warn-wash)", boxShadow: "inset 3px 0 var(--warn)" },
  ".cm-panels": { backgroundColor: "var(--sunk)", color: "var(--fg)", fontFamily: "var(--sans)", zIndex: "4" },
  ".cm-panels-top": { borderBottom: "1px solid var(--line)" },
  ".cm-panels-bottom": { borderTop: "1px solid var(--line)", position: "static" },
  ".cm-panel.cm-search": { padding: "var(--s2) var(--s5) var(--s2) var(--s3)", fontSize: "var(--t-s)" },
  ".cm-panel.cm-search label": { fontSize: "var(--t-xs)" },
  ".cm-panel.cm-search [name=close]": { color: "var(--fg)", fontSize: "1.25rem", minWidth: "1.75rem", minHeight: "1.75rem" },
  ".cm-textfield": { backgroundColor: "var(--panel)", color: "var(--fg)", border: "1px solid var(--control)", borderRadius: "var(--radius-s)", fontSize: "var(--t-s)" },
  ".cm-button": { background: "var(--panel)", color: "var(--fg)", border: "1px solid var(--control)", borderRadius: "var(--radius-s)", fontSize: "var(--t-xs)" },
  ".cm-tooltip": { backgroundColor: "var(--panel)", color: "var(--fg)", border: "1px solid var(--line-2)", borderRadius: "var(--radius-s)", fontFamily: "var(--sans)", fontSize: "var(--t-xs)", maxWidth: "min(32rem, 90vw)" },
  ".cm-diagnostic": { padding: "var(--s1) var(--s2)", whiteSpace: "pre-wrap" },
  ".cm-diagnostic-error": { borderLeft: "3px solid var(--bad)" },
  ".cm-diagnostic-warning, .cm-diagnostic-info": { borderLeft: "3px solid var(--warn)" },
  ".cm-lintRange-error, .cm-lintRange-warning, .cm-lintRange-info": { backgroundImage: "none" },
  ".cm-lintPoint::after": { display: "none" },
  ".cm-lint-marker": { content: "none", inlineSize: ".7em", blockSize: ".7em", borderRadius: "50%", margin: ".4em .15em", backgroundColor: "var(--warn)" },
  ".cm-lint-marker-error": { backgroundColor: "var(--bad)" },
  ".cm-gutter-lint": { width: "1.1em" },
  ".cm-gutter-lint .cm-gutterElement": { padding: "0 0 0 .2em" },
  ".cm-notes": { padding: "var(--s1) var(--s3)", fontSize: "var(--t-xs)", lineHeight: "1.5", maxHeight: "7rem", overflow: "auto" },
  ".cm-notes button": { all: "unset", cursor: "pointer", color: "var(--bad)", fontWeight: "600", marginRight: ".6em", textDecoration: "underline" },
  ".cm-notes button:focus-visible": { outline: "2px solid var(--focus)", outlineOffset: "1px" },
  ".cm-notes li": { listStyle: "none" },
  ".cm-notes ul": { margin: "0", padding: "0" },
})

export const look = [theme, syntaxHighlighting(highlight)]
export const pythonLook = pythonNames

// For the element's own shadow: what a rule of CodeMirror cannot reach. Phones zoom into fields below 16 px.
export const frame = new CSSStyleSheet()
frame.replaceSync(`
  :host { display: block; position: relative }
  .frame { min-height: inherit; max-height: inherit; display: grid; grid-template-columns: minmax(0, 1fr) }
  /* the ring lies above the gutter, which scrolls on a layer of its own */
  .frame:has(.cm-focused)::after { content: ""; position: absolute; inset: 0; z-index: 300; border: 2px solid var(--focus); pointer-events: none }
  .said { position: absolute; inline-size: 1px; block-size: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap }
  .way { position: absolute; inset-block-start: .35rem; inset-inline-end: .5rem; z-index: 310; padding: .1rem .5rem; border: 1px solid var(--line-2);
    border-radius: var(--radius-s); background: var(--panel); color: var(--fg); font: var(--t-xs)/1.5 var(--sans) }
  .way:empty { display: none }
  @media (pointer: coarse) { .cm-editor { font-size: 1rem } }
`)
