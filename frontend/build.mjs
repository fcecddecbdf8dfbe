// Builds static/vendor/editor.js, copies morph.js (htmx's morph swap), and writes the licences of what went into both. Run `npm ci && npm run build` here.
import { build } from "esbuild"
import { copyFileSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const here = dirname(fileURLToPath(import.meta.url))
const vendor = join(here, "..", "static", "vendor")
mkdirSync(vendor, { recursive: true })

const { metafile } = await build({
  absWorkingDir: here,
  entryPoints: ["editor.js"],
  outfile: join(vendor, "editor.js"),
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2022",
  legalComments: "none",
  metafile: true,
  banner: { js: "/* <code-editor>: built from frontend/ by npm run build; licences in licences.txt */" },
})

copyFileSync(join(here, "node_modules", "idiomorph", "dist", "idiomorph-ext.min.js"), join(vendor, "morph.js"))

const packages = ["idiomorph", ...new Set(Object.keys(metafile.inputs).map(path => path.match(/^node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[1]).filter(Boolean))]
const texts = packages.sort().map(name => {
  const folder = join(here, "node_modules", name)
  const { version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))
  const file = readdirSync(folder).find(entry => /^licen[cs]e/i.test(entry))
  if (!file) throw new Error(`${name} carries no licence text`)
  return `${name} ${version} (${license})\n\n${readFileSync(join(folder, file), "utf8").trim()}\n`
})
writeFileSync(join(vendor, "licences.txt"), `What others wrote in editor.js and morph.js.\n\n${texts.join(`\n${"-".repeat(80)}\n\n`)}`)
console.log(`${packages.length} packages, ${Object.values(metafile.outputs)[0].bytes} bytes`)
