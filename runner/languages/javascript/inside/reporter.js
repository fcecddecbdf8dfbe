// The program's process: loads the program, then receives the tests, runs them and reports. Node's own modules only.
//
// Rows go to a descriptor of their own, each with a tag that only the holder of the key can make. What is used after
// the program has been loaded is taken hold of before, and nothing of ours is reachable by name.
(() => {
  "use strict"
  const fs = require("node:fs"), vm = require("node:vm"), util = require("node:util")
  const { createRequire } = require("node:module")
  const asserting = require("node:assert").strict
  const { writeSync, readFileSync, closeSync } = fs
  const { inspect } = util
  const { stringify, parse } = JSON
  const { captureStackTrace } = Error
  const { isArray } = Array
  const { getPrototypeOf, keys, is, create } = Object
  const { reallyExit } = process
  const now = performance.now.bind(performance)
  const bytesOf = text => Buffer.from(text, "utf8")
  const ROWS = 3, TESTS = 4, SHEET = 5
  const ROW_BYTES = 3800 // below PIPE_BUF with tag and line ends, so that one write is one row
  const SENT_CHARS = 3000 // of a value that is compared outside
  const VALUE_CHARS = 400, ERROR_CHARS = 3000, DEPTH = 200
  const PROGRAM = "solution.js", SCRIPT = "tests.js", SNIPPET = "block.js"
  const OURS_TO_SHOW = [PROGRAM, SCRIPT, SNIPPET]

  // BLAKE2s with a key and 16 bytes of digest (RFC 7693); node's crypto has it without a key only.
  const IV = Uint32Array.of(0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19)
  const SIGMA = [
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15], [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
    [11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4], [7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8],
    [9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13], [2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9],
    [12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11], [13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10],
    [6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5], [10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0],
  ]
  const LANES = [[0, 4, 8, 12], [1, 5, 9, 13], [2, 6, 10, 14], [3, 7, 11, 15], [0, 5, 10, 15], [1, 6, 11, 12], [2, 7, 8, 13], [3, 4, 9, 14]]

  function tagOf(key, data) {
    const h = new Uint32Array(IV), m = new Uint32Array(16), v = new Uint32Array(16)
    h[0] ^= 0x01010000 ^ (key.length << 8) ^ 16
    const blocks = 1 + ((data.length + 63) >> 6)
    for (let block = 0; block < blocks; block++) {
      for (let at = 0; at < 16; at++) {
        let word = 0
        for (let byte = 0; byte < 4; byte++) {
          const place = at * 4 + byte, from = (block - 1) * 64 + place
          const value = block ? (from < data.length ? data[from] : 0) : place < key.length ? key[place] : 0
          word |= value << (8 * byte)
        }
        m[at] = word
      }
      const last = block === blocks - 1
      for (let at = 0; at < 8; at++) { v[at] = h[at]; v[at + 8] = IV[at] }
      v[12] ^= last ? 64 + data.length : 64 * (block + 1)
      if (last) v[14] = ~v[14]
      for (let round = 0; round < 10; round++) {
        for (let lane = 0; lane < 8; lane++) {
          const a = LANES[lane][0], b = LANES[lane][1], c = LANES[lane][2], d = LANES[lane][3]
          for (let half = 0; half < 2; half++) {
            v[a] = v[a] + v[b] + m[SIGMA[round][2 * lane + half]]
            v[d] ^= v[a]
            v[d] = half ? (v[d] >>> 8) | (v[d] << 24) : (v[d] >>> 16) | (v[d] << 16)
            v[c] = v[c] + v[d]
            v[b] ^= v[c]
            v[b] = half ? (v[b] >>> 7) | (v[b] << 25) : (v[b] >>> 12) | (v[b] << 20)
          }
        }
      }
      for (let at = 0; at < 8; at++) h[at] ^= v[at] ^ v[at + 8]
    }
    let tag = ""
    for (let at = 0; at < 16; at++) tag += "0123456789abcdef"[(h[at >> 2] >>> (8 * (at & 3) + 4)) & 15] + "0123456789abcdef"[(h[at >> 2] >>> (8 * (at & 3))) & 15]
    return tag
  }

  // Rows. A row is made by hand: JSON.stringify would ask its values for a `toJSON` that the program may have put there.
  let key, seq = 0, revealed = false

  function written(value) {
    if (typeof value !== "object" || value === null) return value === undefined ? "null" : stringify(value)
    let text = ""
    for (let at = 0; at < value.length; at++) text += (at ? "," : "") + stringify(value[at])
    return `[${text}]`
  }

  function say(facts) {
    let payload = `{"seq":${++seq}`
    for (const name in facts) payload += `,${stringify(name)}:${written(facts[name])}`
    const data = bytesOf(`${payload}}`)
    if (data.length > ROW_BYTES) return say(shortened(facts, --seq))
    writeSync(ROWS, `\n${tagOf(key, data)} ${payload}}\n`)
  }

  function shortened(facts) {
    const kept = create(null)
    for (const name in facts) {
      const value = facts[name]
      if (typeof value === "string" && value.length > 40) kept[name] = value.slice(0, value.length >> 1)
      else if (isArray(value)) kept[name] = value.map(each => each.slice(0, each.length >> 1))
      else kept[name] = value
    }
    return kept
  }

  function facts(given) {
    const made = create(null)
    for (const name in given) made[name] = given[name]
    return made
  }

  // What may be shown of values and errors; hostile ones yield a note instead.
  function shown(value) {
    try {
      const text = inspect(value, { depth: 5, maxArrayLength: 40, maxStringLength: VALUE_CHARS, breakLength: Infinity, customInspect: false })
      return text.length <= VALUE_CHARS ? text : `${text.slice(0, VALUE_CHARS - 3)}...`
    } catch { return "<a value that cannot be shown>" }
  }

  function lineOf(error, file) {
    const found = new RegExp(`\\b${file.replace(".", "\\.")}:(\\d+)`).exec(stackOf(error))
    return found ? Number(found[1]) : null
  }

  function stackOf(error) {
    try { return typeof error === "object" && error !== null && typeof error.stack === "string" ? error.stack : "" } catch { return "" }
  }

  function described(error) {
    let said
    try { said = error instanceof Error ? `${error.name}: ${error.message}` : `thrown: ${shown(error)}` } catch { said = "An error that cannot be shown" }
    const line = lineOf(error, PROGRAM)
    said = said.slice(0, VALUE_CHARS)
    return line ? `${said} (${PROGRAM}, line ${line})` : said
  }

  // The error with the frames of the author's files only.
  function told(error) {
    const stack = stackOf(error)
    if (!stack) return `Uncaught ${shown(error)}\n`
    const lines = stack.split("\n").filter(line => !/^ {4}at /.test(line) || OURS_TO_SHOW.some(file => line.includes(`${file}:`)))
    const text = `${lines.join("\n").trimEnd()}\n`
    const half = ERROR_CHARS >> 1
    return text.length <= ERROR_CHARS ? text : `${text.slice(0, half)}\n[...]\n${text.slice(-half)}`
  }

  function tell(error) {
    try { writeSync(2, told(error)) } catch { /* the program closed what it could be told on */ }
  }

  // Tests.
  let spans = {}, active = null

  class Running {
    constructor(name) {
      this.name = name
      this.open = null
      this.failure = undefined
      this.reported = new Set()
      this.began = now()
      say(facts({ begin: name }))
    }

    at(number, line) {
      return this.open = { number, line }
    }

    row(assertion, outcome, message, values) {
      this.open = null
      const once = `${assertion.number} ${outcome}`
      if (this.reported.has(once)) return
      this.reported.add(once)
      say(facts({ test: this.name, assertion: assertion.number, outcome, line: assertion.line, message, values, ms: now() - this.began }))
    }

    end(failed, error) {
      if (active === this) active = null
      if (failed && error !== this.failure && revealed) tell(error)
      if (failed && this.open) this.row(this.open, "FAILED", revealed ? described(error) : "", [])
      say(facts({
        test: this.name, assertion: null, outcome: failed ? "FAILED" : "PASSED", line: failed ? lineOf(error, SCRIPT) : null,
        message: failed && revealed ? messageOf(error) : "", values: [], ms: now() - this.began,
      }))
    }
  }

  // The planned assertion that a call stands in, and its line in the tests; what is in no planned one counts behind them.
  function placeOf(test) {
    const holder = {}
    const usual = Error.prepareStackTrace, limit = Error.stackTraceLimit
    let lines = []
    try {
      Error.stackTraceLimit = 60
      Error.prepareStackTrace = (_, sites) => sites.filter(site => site.getFileName() === SCRIPT).map(site => site.getLineNumber())
      captureStackTrace(holder)
      lines = isArray(holder.stack) ? holder.stack : []
    } catch { /* no line then */ }
    Error.prepareStackTrace = usual
    Error.stackTraceLimit = limit
    const planned = spans[test] ?? []
    for (const line of lines) {
      const span = planned.find(each => each[1] <= line && line <= each[2])
      if (span) return [span[0], line]
    }
    return [planned.length + (lines[0] ?? 0) + 1, lines[0] ?? null]
  }

  function checked(check, operands) {
    const test = active
    if (!test) return check()
    const place = placeOf(test.name)
    const assertion = test.at(place[0], place[1])
    const failed = error => {
      test.row(assertion, "FAILED", revealed ? messageOf(error) : "", revealed ? operands.map(shown) : [])
      test.failure = error
      throw error
    }
    let result
    try { result = check() } catch (error) { failed(error) }
    if (result instanceof Promise) return result.then(value => (test.row(assertion, "PASSED", "", []), value), failed)
    test.row(assertion, "PASSED", "", [])
    return result
  }

  function messageOf(error) {
    return error instanceof asserting.AssertionError && error.generatedMessage ? "" : described(error).replace(/^AssertionError: /, "")
  }

  // What tests assert with: node's own strict assertions, each of which reports how it came out.
  const OPERANDS = { equal: 2, notEqual: 2, deepEqual: 2, notDeepEqual: 2, strictEqual: 2, deepStrictEqual: 2, ok: 1, match: 1, doesNotMatch: 1 }
  const assert = (...given) => checked(() => asserting(...given), typeof given[0] === "boolean" ? [] : given.slice(0, 1))
  for (const name of ["ok", "equal", "notEqual", "deepEqual", "notDeepEqual", "strictEqual", "deepStrictEqual", "match", "doesNotMatch", "throws", "doesNotThrow", "rejects", "doesNotReject", "fail"]) {
    const check = asserting[name]
    assert[name] = (...given) => checked(() => check(...given), given.slice(0, OPERANDS[name] ?? 0))
  }
  assert.close = (actual, expected, tolerance = 1e-9) =>
    checked(() => asserting(Math.abs(actual - expected) <= tolerance, `differs by more than ${tolerance}`), [actual, expected])

  // A value as JSON with NaN and infinities; only what is exactly of a plain type. Compared outside of this box.
  function plain(value, depth = 0) {
    if (depth > DEPTH) throw new TypeError("is nested too deeply")
    if (value === null || typeof value === "boolean" || typeof value === "string") return ascii(stringify(value))
    if (typeof value === "number") return is(value, -0) ? "-0.0" : `${value}`
    if (typeof value === "object" && isArray(value)) {
      const inner = []
      for (let at = 0; at < value.length; at++) inner[at] = plain(value[at], depth + 1)
      return `[${inner.join(",")}]`
    }
    if (typeof value === "object" && [Object.prototype, null].includes(getPrototypeOf(value))) {
      return `{${keys(value).map(name => `${ascii(stringify(name))}:${plain(value[name], depth + 1)}`).join(",")}}`
    }
    throw new TypeError(`${shown(value)} is no plain value`)
  }

  function ascii(text) {
    return text.replace(/[\u007f-\uffff]/g, each => `\\u${each.charCodeAt(0).toString(16).padStart(4, "0")}`)
  }

  async function runCase(test, each, target) {
    const assertion = test.at(each.assertion, each.line)
    const value = plain(await target(...each.args))
    if (value.length > SENT_CHARS) throw new RangeError(`The value has ${value.length} characters as JSON, more than the ${SENT_CHARS} that are sent out`)
    test.open = null
    // Whether it is right is not known here: the host compares the value, and only then is it PASSED.
    say(facts({
      test: test.name, assertion: assertion.number, outcome: "PASSED", line: assertion.line, message: "",
      values: revealed ? [value.slice(0, VALUE_CHARS)] : [], ms: now() - test.began, value: `json ${value}`,
    }))
  }

  // What is thrown while nobody waits for it, in a callback say, ends the test that is running.
  let breakOff = () => {}

  async function runTest(name, body) {
    const test = active = new Running(name)
    const broken = new Promise((_, reject) => { breakOff = reject })
    try {
      await Promise.race([body(test), broken])
      test.end(false)
    } catch (error) { test.end(true, error) }
  }

  function looked(name) {
    return vm.runInThisContext(`typeof ${name} === "undefined" ? undefined : ${name}`)
  }

  async function runSheet(sheet) {
    let defined
    if (sheet.style === "script") {
      const names = sheet.run.map(name => `${stringify(name)}: typeof ${name} === "undefined" ? undefined : ${name}`)
      try {
        defined = vm.compileFunction(`${sheet.tests}\n;return {${names.join(", ")}}`, ["assert"], { filename: SCRIPT })
      } catch (error) {
        say(facts({ tests_error: revealed ? told(error) : "The tests do not compile." }))
        return 1
      }
      try { defined = defined(assert) } catch (error) { tell(error); return 1 }
    }
    for (const name of sheet.run) {
      if (sheet.style === "script") {
        await runTest(name, () => {
          if (typeof defined[name] !== "function") throw new ReferenceError(`${name} is not defined`)
          return defined[name]()
        })
      } else {
        await runTest(name, async test => { for (const each of sheet.cases[name] ?? []) await runCase(test, each, caller(each.call)) })
      }
    }
    return 0
  }

  // `name`, or `owner.name` for a static method.
  function caller(name) {
    const [first, ...rest] = name.split(".")
    let owner, target = looked(first)
    for (const each of rest) { owner = target; target = target?.[each] }
    if (typeof target !== "function") throw new ReferenceError(`${name} is no function of the program`)
    return (...given) => target.apply(owner, given)
  }

  async function runSnippet(text) {
    try {
      const value = await new vm.Script(text, { filename: SNIPPET }).runInThisContext()
      if (value !== undefined) console.log(typeof value === "string" ? stringify(value) : inspect(value))
    } catch (error) {
      tell(error)
      process.exitCode = 1
    }
  }

  function watchNetwork() {
    let noted = false
    const note = where => {
      if (noted || !where || /^(localhost|127\.|::1|0\.0\.0\.0)/.test(where)) return
      noted = true
      say(facts({ network: where.slice(0, 200) }))
    }
    const net = require("node:net"), dns = require("node:dns")
    const { connect } = net.Socket.prototype, { lookup } = dns
    net.Socket.prototype.connect = function (...given) {
      const to = isArray(given[0]) ? given[0][0] : given[0]
      if (to && typeof to === "object" && to.port) note(`the address ${to.host ?? "localhost"}:${to.port}`.replace("the address localhost", "localhost"))
      return connect.apply(this, given)
    }
    dns.lookup = function (name, ...given) { note(`the name ${name}`); return lookup.call(this, name, ...given) }
  }

  // Load, fetch the tests, run.
  const start = readFileSync(SHEET)
  closeSync(SHEET)
  key = start.subarray(0, 32)
  const job = parse(start.subarray(32).toString("utf8"))
  if (job.watch_network) watchNetwork()
  process.argv = [process.argv[0], "/work/solution.js"]
  process.execArgv = []
  globalThis.require = createRequire("/work/solution.js")
  globalThis.module = { exports: {} }
  globalThis.exports = globalThis.module.exports
  globalThis.__filename = "/work/solution.js"
  globalThis.__dirname = "/work"
  try {
    new vm.Script(job.program.replace(/^\ufeff/, ""), { filename: PROGRAM }).runInThisContext()
  } catch (error) {
    say(facts({ load_error: told(error) }))
    reallyExit.call(process, 1)
  }
  say(facts({ loaded: true }))
  const delivered = readFileSync(TESTS)
  closeSync(TESTS)
  if (delivered.length <= 32) reallyExit.call(process, 1)
  key = delivered.subarray(0, 32)
  seq = 0
  revealed = job.revealed
  const sheet = parse(delivered.subarray(32).toString("utf8"))
  spans = sheet.spans
  if (sheet.style === "scratch") {
    runSnippet(sheet.tests)
  } else {
    process.on("uncaughtException", error => breakOff(error))
    runSheet(sheet).then(status => reallyExit.call(process, status), () => reallyExit.call(process, 1))
  }
})()
