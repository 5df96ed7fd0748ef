import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '..')
/** The paths of all TypeScript files, relative to the root. */
const SOURCES = globSync(
  '{contract,server,operator,web,e2e,trials,bench,demo,scripts}/**/*.{ts,tsx}',
  {
    cwd: ROOT,
  },
)
const page = readFileSync(join(ROOT, 'docs/architecture.md'), 'utf8')
const contributing = readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8')

/** The walks through the code, by the headings of their sections. */
const WALKS = [
  'A like',
  'Signing in with a resumed intent',
  'A read that is cached',
  'A page request',
]

const LAYERS = ['kernel', 'features', 'operations']

test.each(['server', 'web'])(
  'the tree in docs/architecture.md names every folder of %s/, and no other',
  (area) => {
    const [, listed = ''] = new RegExp(`^ {4}${area}/.*\\n((?: {6}.*\\n)+)`, 'm').exec(page) ?? []
    const onPage = [...listed.matchAll(/(?<=^ {6,}(?:[\w-]+\/ )*)[\w-]+(?=\/ )/gm)].map(String)
    const folders = foldersIn(area).flatMap((name) =>
      LAYERS.includes(name) ? [name, ...foldersIn(`${area}/${name}`)] : [name],
    )
    expect(onPage.toSorted()).toEqual(folders.toSorted())
  },
)

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8')
}

function foldersIn(path: string): string[] {
  const entries = readdirSync(join(ROOT, path), { withFileTypes: true })
  // Files of web/public are served as they are.
  return entries.filter((e) => e.isDirectory() && e.name !== 'public').map(({ name }) => name)
}

test.each(WALKS)('each file of the walk «%s» declares the name beside it', (heading) => {
  const rows = readWalk(heading)
  expect(rows.length).toBeGreaterThan(3)
  const isWrong = ({ path, name }: (typeof rows)[number]) =>
    !existsSync(join(ROOT, path)) || !declares(read(path), name)
  expect(rows.filter(isWrong)).toEqual([])
})

test('no two files of the contract, the server and the web share a name', () => {
  const names = SOURCES.filter((path) => /^(?:contract|server|web)\/(?!.*\.test\.)/.test(path)).map(
    (path) => basename(path),
  )
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
})

test('only web/platform uses features of secure contexts', () => {
  const secure =
    /navigator\.(?:locks|clipboard|storage|credentials|wakeLock)|randomUUID\(|crypto\.subtle/
  const users = SOURCES.filter(
    (path) => /^web\/(?!platform\/|.*\.test\.)/.test(path) && secure.test(read(path)),
  )
  expect(users).toEqual([])
})

/** The rows of the table under a heading: a path and the name of what it declares. */
function readWalk(heading: string): { path: string; name: string }[] {
  const sections = `${page}\n${contributing}`.split(/^##+ /m)
  const section = sections.find((part) => part.startsWith(`${heading}\n`)) ?? ''
  const rows = section.matchAll(/^\| `([\w./-]+)` \| `(\w+)` \|/gm)
  return [...rows].map(([, path = '', name = '']) => ({ path, name }))
}

/** Whether a source declares a function, class or constant of this name, or a method with a body. */
function declares(source: string, name: string): boolean {
  const declaration = `\\b(?:function|const|class)\\s+${name}\\b`
  const method = `^\\s+(?:async\\s+)?${name}(?:<[^>]*>)?\\([^;]*?\\)[^;\\n]*\\{$`
  return new RegExp(`${declaration}|${method}`, 'm').test(source)
}
