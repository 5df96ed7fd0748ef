import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'

const DOCUMENTS = globSync(['*.md', 'docs/**/*.md', '.github/**/*.md'])
const ALL = [...DOCUMENTS, ...globSync('server/**/*.md')]
const SOURCES = globSync(
  '{contract,server,operator,web,e2e,trials,bench,demo,scripts}/**/*.{ts,tsx}',
)
const LAYERS = ['kernel', 'features', 'operations']

function read(path: string): string {
  return readFileSync(path, 'utf8')
}

test('every relative link leads to a file, and to a heading in it', () => {
  const links = DOCUMENTS.flatMap((path) => {
    const found = withoutCode(read(path)).matchAll(/\]\(([^)\s]+)\)|<img src="([^"]+)"/g)
    return [...found].map(([, link, source]) => ({ path, link: link ?? source ?? '' }))
  })
  const relative = links.filter(({ link }) => !/^[a-z]+:/.test(link))
  expect(relative.length).toBeGreaterThan(50)
  expect(relative.filter(({ path, link }) => !leadsSomewhere(path, link))).toEqual([])
})

/** Removes spans and blocks of code, whose text may look like a link. */
function withoutCode(text: string): string {
  return text.replaceAll(/^ {4}.*$|`[^`\n]*`/gm, '')
}

function leadsSomewhere(from: string, link: string): boolean {
  const [path = '', heading] = link.split('#')
  const target = path === '' ? from : join(dirname(from), path)
  if (!existsSync(target)) return false
  return heading === undefined || slugsOf(target).includes(heading)
}

/** Returns the anchors that GitHub makes of headings. */
function slugsOf(path: string): string[] {
  return [...read(path).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

test('every document and section that the program names exists', () => {
  const sources = globSync('{server,operator,bin,deploy}/**/*.{ts,sql,service,yml,conf,example}')
  const pattern = /(docs\/[\w-]+\.md)(?:, «([^»]+)»)?/g
  const named = sources.flatMap((path) => [...read(path).matchAll(pattern)])
  expect(named.length).toBeGreaterThan(10)
  const missing = named.filter(([, path = '', heading]) => {
    if (!existsSync(path)) return true
    return heading !== undefined && !new RegExp(`^#+ ${heading}$`, 'm').test(read(path))
  })
  expect(missing.map(([match]) => match)).toEqual([])
})

test('every npm script that a document names exists', () => {
  const { scripts } = JSON.parse(read('package.json'))
  const named = DOCUMENTS.flatMap((path) => [
    ...read(path).matchAll(/npm (?:run (?:-s )?([\w:-]+)|(start|test)\b)/g),
  ]).map(([, script, builtIn]) => script ?? builtIn ?? '')
  expect(named.length).toBeGreaterThan(20)
  expect(named.filter((script) => !(script in scripts))).toEqual([])
})

test('every file and folder that a document names exists', () => {
  const isThere = (name: string) =>
    existsSync(name) || SOURCES.some((path) => path.endsWith(`/${name}`))
  const texts = DOCUMENTS.map(read)
  const files = texts.flatMap((text) => [...text.matchAll(/(?<![*\w./-])\w[\w./-]*\.tsx?\b/g)])
  const paths = texts.flatMap((text) => [
    ...text.matchAll(
      /(?<=`)(?:contract|server|operator|web|e2e|trials|bench|demo|scripts|deploy|docs|bin)\/[\w./@-]*(?=`)/g,
    ),
  ])
  expect(files.length).toBeGreaterThan(50)
  expect([...files, ...paths].map(String).filter((name) => !isThere(name))).toEqual([])
})

test.each(['server', 'web'])(
  'the tree in docs/architecture.md names every folder of %s/, and no other',
  (area) => {
    const page = read('docs/architecture.md')
    const [, listed = ''] = new RegExp(`^ {4}${area}/.*\\n((?: {6}.*\\n)+)`, 'm').exec(page) ?? []
    const onPage = [...listed.matchAll(/(?<=^ {6,}(?:[\w-]+\/ )*)[\w-]+(?=\/ )/gm)].map(String)
    const folders = foldersIn(area).flatMap((name) =>
      LAYERS.includes(name) ? [name, ...foldersIn(`${area}/${name}`)] : [name],
    )
    expect(onPage.toSorted()).toEqual(folders.toSorted())
  },
)

function foldersIn(path: string): string[] {
  const entries = readdirSync(path, { withFileTypes: true })
  // Files of web/public are served as they are.
  return entries.filter((e) => e.isDirectory() && e.name !== 'public').map(({ name }) => name)
}

test('each file in a table of files and functions declares the name beside it', () => {
  const pages = read('docs/architecture.md') + read('CONTRIBUTING.md')
  const rows = [...pages.matchAll(/^\| `([\w./-]+\.tsx?)` \| `(\w+)` \|/gm)]
  expect(rows.length).toBeGreaterThan(30)
  const isMissing = ([, path = '', name = '']: string[]) => !declares(read(path), name)
  expect(rows.filter(isMissing).map(([row]) => row)).toEqual([])
})

/** Whether a source declares a function, class or constant of this name, or a method with a body. */
function declares(source: string, name: string): boolean {
  const declaration = `\\b(?:function|const|class)\\s+${name}\\b`
  const method = `^\\s+(?:async\\s+)?${name}(?:<[^>]*>)?\\([^;]*?\\)[^;\\n]*\\{$`
  return new RegExp(`${declaration}|${method}`, 'm').test(source)
}

test('the table of emitters in docs/architecture.md names every file of the web that has one', () => {
  const pattern = /^(?:export )?const \w+ = create(?:Emitter|Atom|TabChannel|ToastQueue)\b/m
  const isSource = (path: string) => path.startsWith('web/') && !path.includes('.test.')
  const files = SOURCES.filter((path) => isSource(path) && pattern.test(read(path)))
  const [, table = ''] = read('docs/architecture.md').split('## Who emits, and who listens')
  const rows = [...(table.split('\n## ')[0] ?? '').matchAll(/^\| `([\w./-]+)` \|/gm)]
  const named = new Set(rows.map(([, path]) => path))
  expect([...named].toSorted()).toEqual(files.toSorted())
})

test('no document names a host of a package registry', () => {
  expect(ALL.filter((path) => /registry\.npmjs|npmjs\.(?:com|org)/.test(read(path)))).toEqual([])
})
