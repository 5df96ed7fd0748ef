import { globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { parseSync } from 'vite'

const ROOT = join(import.meta.dirname, '..')
const SMALL_LINES = 20
const LARGE_LINES = 200
const LONG_FUNCTION_LINES = 60
const MANY_FILES = 15

const PARTS = {
  'server and operator': '{server,operator}/**/*.{ts,sql}',
  contract: 'contract/**/*.ts',
  web: 'web/**/*.{ts,tsx,css}',
  'tests and tools': '{e2e,trials,bench,scripts,demo}/**/*.ts',
}
const IS_TEST = /\.(?:test|fixture)\.tsx?$|(?:^|\/)testing\//

type File = {
  path: string
  lines: number
  /** Lines that hold nothing but a docstring, or another comment. */
  docstrings: number
  comments: number
  /** Lines that are neither empty nor only a comment. */
  code: number
  longFunctions: string[]
}

const tests: File[] = []
const product: File[] = []
const table: Record<string, object> = {}
for (const [part, pattern] of Object.entries(PARTS)) {
  const files = globSync(pattern, { cwd: ROOT }).map(measure)
  const isTools = part === 'tests and tools'
  const own = files.filter(({ path }) => isTools || !IS_TEST.test(path))
  tests.push(...files.filter((file) => isTools || !own.includes(file)))
  if (isTools) continue
  product.push(...own)
  table[part] = sums(own)
}
table['tests and tools'] = sums(tests)

console.table(table)
console.table({
  'words of documents': countWords('{*.md,docs/**/*.md,.github/**/*.md,server/**/*.md}'),
  [`product files under ${SMALL_LINES} lines`]: product.filter((it) => it.lines < SMALL_LINES)
    .length,
  [`product files over ${LARGE_LINES} lines`]: product.filter((it) => it.lines > LARGE_LINES)
    .length,
  [`functions of the product over ${LONG_FUNCTION_LINES} lines`]: long(product).length,
})
for (const text of long(product)) console.log(text)
for (const [folder, count] of crowded([...product, ...tests])) {
  console.log(`${folder}: ${count} files`)
}

function measure(path: string): File {
  const source = readFileSync(join(ROOT, path), 'utf8')
  const { program, comments } = /\.tsx?$/.test(path)
    ? parseSync(path, source)
    : { program: undefined, comments: commentsIn(path, source) }
  const lineAt = lineFinder(source)
  const texts = source.split('\n')
  const docstrings = new Set<number>()
  const others = new Set<number>()
  for (const { start, end } of comments) {
    for (let line = lineAt(start); line <= lineAt(end); line++) {
      const isOnly =
        line > lineAt(start) || texts[line]?.slice(0, column(source, start)).trim() === ''
      if (isOnly) (source.startsWith('/**', start) ? docstrings : others).add(line)
    }
  }
  const filled = texts.filter((text) => text.trim() !== '').length
  return {
    path,
    lines: texts.length - 1,
    docstrings: docstrings.size,
    comments: others.size,
    code: filled - docstrings.size - others.size,
    longFunctions: program ? longFunctions(program, lineAt) : [],
  }
}

/** Finds the comments of CSS or SQL. */
function commentsIn(path: string, source: string): { start: number; end: number }[] {
  const pattern = path.endsWith('.sql') ? /^ *--.*$/gm : /\/\*.*?\*\//gs
  return [...source.matchAll(pattern)].map(({ index, 0: text }) => ({
    start: index,
    end: index + text.length,
  }))
}

function column(source: string, index: number): number {
  return index - (source.lastIndexOf('\n', index - 1) + 1)
}

/** Returns a function that finds the line, counted from 0, of a position. */
function lineFinder(source: string): (index: number) => number {
  const ends = [...source.matchAll(/\n/g)].map(({ index }) => index)
  return (index) => {
    const line = ends.findIndex((end) => end >= index)
    return line === -1 ? ends.length : line
  }
}

/** Returns the first line of each function with too many lines, and their number. */
function longFunctions(node: unknown, lineAt: (index: number) => number): string[] {
  if (Array.isArray(node)) return node.flatMap((child) => longFunctions(child, lineAt))
  if (typeof node !== 'object' || node === null) return []
  const inner = Object.values(node).flatMap((child) => longFunctions(child, lineAt))
  const { type, start, end } = node as { type?: string; start: number; end: number }
  if (!/^(?:FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(type ?? '')) {
    return inner
  }
  const lines = lineAt(end) - lineAt(start) + 1
  return lines > LONG_FUNCTION_LINES ? [`${lineAt(start) + 1} (${lines} lines)`, ...inner] : inner
}

function long(files: File[]): string[] {
  return files.flatMap(({ path, longFunctions }) => longFunctions.map((text) => `${path}:${text}`))
}

function crowded(files: File[]): [string, number][] {
  const folders = Object.groupBy(files, ({ path }) => dirname(path))
  return Object.entries(folders)
    .map(([folder, inside = []]): [string, number] => [folder, inside.filter(isSource).length])
    .filter(([, count]) => count > MANY_FILES)
}

function isSource({ path }: File): boolean {
  return !/\.(?:test|fixture)\./.test(basename(path))
}

function sums(files: File[]) {
  const sum = (of: (file: File) => number) => files.map(of).reduce((all, one) => all + one, 0)
  const lines = sum((it) => it.lines)
  const share = (count: number) => `${((100 * count) / lines).toFixed(1)} %`
  return {
    files: files.length,
    lines,
    code: sum((it) => it.code),
    docstrings: share(sum((it) => it.docstrings)),
    comments: share(sum((it) => it.comments)),
  }
}

function countWords(pattern: string): number {
  return globSync(pattern, { cwd: ROOT })
    .map((path) => readFileSync(join(ROOT, path), 'utf8').split(/\s+/).filter(Boolean).length)
    .reduce((all, one) => all + one, 0)
}
