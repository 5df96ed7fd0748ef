import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')

const PARTS = {
  'server and operator': '{server,operator}/**/*.{ts,sql}',
  contract: 'contract/**/*.ts',
  web: 'web/**/*.{ts,tsx,css}',
  'tests and tools': '{e2e,trials,bench,scripts,demo}/**/*.ts',
}
const TESTS = 'tests and tools'
const IS_TEST = /\.(?:test|fixture)\.tsx?$|(?:^|\/)testing\//
/** A line of nothing but a comment. */
const COMMENT = /^\s*(?:\/\/|\/\*|\*(?:[\s/]|$))/
const SQL_COMMENT = /^\s*--/
const DOCUMENTS = '{*.md,docs/**/*.md,.github/**/*.md,server/**/*.md}'

const files = Object.entries(PARTS).flatMap(([part, pattern]) =>
  globSync(pattern, { cwd: ROOT }).map((path) => {
    const lines = readFileSync(join(ROOT, path), 'utf8').trimEnd().split('\n')
    const comment = path.endsWith('.sql') ? SQL_COMMENT : COMMENT
    const comments = lines.filter((line) => comment.test(line)).length
    const code = lines.filter((line) => line.trim() !== '').length - comments
    const own = IS_TEST.test(path) ? TESTS : part
    return { path, part: own, lines: lines.length, comments, code }
  }),
)
const tables = Object.entries(Object.groupBy(files, ({ part }) => part)).map(([part, own = []]) => {
  const sum = (what: 'lines' | 'comments' | 'code') =>
    own.reduce((all, file) => all + file[what], 0)
  const comments = `${((100 * sum('comments')) / sum('lines')).toFixed(1)} %`
  return [part, { files: own.length, lines: sum('lines'), code: sum('code'), comments }]
})
console.table(Object.fromEntries(tables))

const product = files.filter(({ part }) => part !== TESTS)
const texts = globSync(DOCUMENTS, { cwd: ROOT }).map((path) =>
  readFileSync(join(ROOT, path), 'utf8'),
)
console.table({
  'words of documents': texts.join(' ').split(/\s+/).filter(Boolean).length,
  'product files under 20 lines': product.filter((it) => it.lines < 20).length,
  'product files over 200 lines': product.filter((it) => it.lines > 200).length,
})
const sources = files.filter(({ path }) => !/\.(?:test|fixture)\./.test(path))
const folders = Object.groupBy(sources, ({ path }) => dirname(path))
for (const [folder, inside = []] of Object.entries(folders)) {
  if (inside.length > 15) console.log(`${folder}: ${inside.length} files`)
}
