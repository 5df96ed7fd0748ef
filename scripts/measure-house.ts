import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')
const SMALL_LINES = 20
const LARGE_LINES = 200
const MANY_FILES = 15

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
  const share = `${((100 * sum('comments')) / sum('lines')).toFixed(1)} %`
  return [part, { files: own.length, lines: sum('lines'), code: sum('code'), comments: share }]
})
console.table(Object.fromEntries(tables))

const product = files.filter(({ part }) => part !== TESTS)
const texts = globSync(DOCUMENTS, { cwd: ROOT }).map((path) =>
  readFileSync(join(ROOT, path), 'utf8'),
)
console.table({
  'words of documents': texts.join(' ').split(/\s+/).filter(Boolean).length,
  [`product files under ${SMALL_LINES} lines`]: product.filter((it) => it.lines < SMALL_LINES)
    .length,
  [`product files over ${LARGE_LINES} lines`]: product.filter((it) => it.lines > LARGE_LINES)
    .length,
})
const sources = files.filter(({ path }) => !/\.(?:test|fixture)\./.test(path))
const folders = Object.groupBy(sources, ({ path }) => dirname(path))
for (const [folder, inside = []] of Object.entries(folders)) {
  if (inside.length > MANY_FILES) console.log(`${folder}: ${inside.length} files`)
}
