import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runHere } from '../server/testing/process/run-command.ts'

const ROOT = join(import.meta.dirname, '..')

type Help = { commands: { name: string; options: string[] }[]; options: string[] }

test('every command and option that a document names exists', async () => {
  const { out } = await runHere({}, ['--help', '--json'])
  const { commands, options: general }: Help = JSON.parse(out)
  const known = new Map(commands.map(({ name, options }) => [name, [...general, ...options]]))
  const calls = globSync(['*.md', 'docs/**/*.md'], { cwd: ROOT }).flatMap((path) => [
    // Matches spans and blocks of code, but not the name of the package.
    ...readFileSync(join(ROOT, path), 'utf8').matchAll(
      /(?:`|^ {4}(?:.* )?)(?:bin\/)?vslukh ([a-z-]+)([^`\n#]*)/gm,
    ),
  ])
  expect(calls.length).toBeGreaterThan(30)
  const wrong = calls.filter(([, name = '', rest = '']) => {
    const options = known.get(name)
    if (!options) return name !== 'help' && !name.startsWith('-')
    const used = [...rest.matchAll(/(?<= )--([a-z][\w-]*)/g)].map(([, option = '']) => option)
    return used.some((option) => !options.some((it) => it.replace('=', '') === option))
  })
  expect(wrong.map(([call]) => call)).toEqual([])
})
