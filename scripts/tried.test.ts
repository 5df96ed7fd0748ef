import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const page = readFileSync('docs/tried.md', 'utf8')
const kinds = [...page.matchAll(/^- (?<kind>.+?) · (?<source>[^·]+) · (?<result>.+)$/gm)].map(
  ({ groups }) => groups?.result ?? '',
)
const TESTS = globSync('{contract,server,operator,web,e2e,trials,scripts}/**/*.test.{ts,tsx}')

test('each line of docs/tried.md has a kind, its source and a result', () => {
  expect(kinds).toHaveLength(page.match(/^- /gm)?.length ?? 0)
  expect(kinds.filter((result) => !/^(?:holds|mended|breaks)\b/.test(result))).toEqual([])
})

test('each kind that was mended names tests that exist', () => {
  const mended = kinds.filter((result) => result.startsWith('mended'))
  const isKept = (result: string) => {
    const names = [...result.matchAll(/`([\w./-]+\.test\.tsx?)`/g)].map(([, name]) => name)
    return names.length > 0 && names.every((name) => TESTS.some((path) => isAt(path, name)))
  }
  expect(mended.filter((result) => !isKept(result))).toEqual([])
})

function isAt(path: string, name: string | undefined): boolean {
  return path === name || path.endsWith(`/${name}`)
}

test('the table of docs/tried.md has the share of each quarter that broke', () => {
  const broke = (results: string[]) =>
    `${results.filter((result) => !result.startsWith('holds')).length} of ${results.length}`
  const quarters = [0, 1, 2, 3].map((nth) => {
    const [from, to] = [nth, nth + 1].map((it) => Math.round((it * kinds.length) / 4))
    return broke(kinds.slice(from, to))
  })
  const row = ['Broke', ...quarters, broke(kinds.slice(-50))].join(' | ')
  expect(/^\| (Broke.+) \|$/m.exec(page)?.[1]).toBe(row)
})
