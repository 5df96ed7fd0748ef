import { spawnSync } from 'node:child_process'
import { copyFileSync, globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'

const ROOT = join(import.meta.dirname, '..')
const BIOME = join(ROOT, 'node_modules/@biomejs/biome/bin/biome')
const RULES = ['style/noRestrictedImports', 'suspicious/noImportCycles', 'performance/noBarrelFile']

test('the repository follows every rule about imports', { timeout: 60_000 }, () => {
  expect(findViolations(ROOT)).toEqual([])
})

/** A file, what it may not import, and what it may. */
const IMPORTS: [path: string, forbidden: string, allowed: string][] = [
  ['contract/a.ts', 'node:fs', './b.ts'],
  ['contract/a.ts', 'fastify', 'typebox'],
  ['contract/a.ts', '../server/kernel/db/a.ts', 'typebox/value'],
  ['server/app.ts', 'react', './features/likes/likes.routes.ts'],
  ['server/kernel/http/a.ts', '../../../web/http/a.ts', '../../../contract/a.ts'],
  ['server/kernel/http/a.ts', '../../features/likes/likes.service.ts', '../db/a.ts'],
  ['server/kernel/mail/a.ts', 'nodemailer/lib/smtp-connection', 'nodemailer'],
  ['server/features/codes/a.ts', 'nodemailer/lib/mime-node', '../../kernel/mail/a.ts'],
  ['server/kernel/db/a.ts', '../../app.ts', '../config/config.ts'],
  ['server/kernel/db/a.ts', '../../operations/start/a.ts', '../errors/a.ts'],
  ['server/features/likes/a.ts', '../posts/posts.repository.ts', '../posts/posts.service.ts'],
  ['server/features/likes/a.ts', '../../features.ts', '../../kernel/queue/a.ts'],
  ['server/features/likes/a.ts', '../../operations/start/a.ts', '../posts/post-lists.ts'],
  ['server/features/likes/likes.service.ts', './likes.routes.ts', '../posts/posts.repository.ts'],
  ['server/features/likes/likes.routes.ts', '../posts/posts.routes.ts', './likes.repository.ts'],
  ['server/features/likes/likes.repository.ts', './likes.service.ts', '../../kernel/db/a.ts'],
  ['server/features/likes/likes.repository.ts', '../posts/post-lists.ts', './a.ts'],
  ['server/features/posts/a.service.ts', '../likes/a.ts', '../account/account.repository.ts'],
  ['server/features/posts/posts.repository.ts', '../replies/replies.service.ts', './a.ts'],
  ['server/features/posts/a.ts', '../../pages/a.ts', '../../kernel/http/a.ts'],
  ['server/pages/a.ts', '../features/posts/posts.routes.ts', '../features/posts/post-lists.ts'],
  ['server/pages/a.ts', '../operations/status/a.ts', '../kernel/http/a.ts'],
  ['server/operations/backup/a.ts', '../../app.ts', '../../features/posts/post-lists.ts'],
  ['server/operations/backup/a.ts', '../../features/posts/posts.routes.ts', '../start/a.ts'],
  ['operator/a.ts', 'kysely', '../server/features/likes/likes.service.ts'],
  ['operator/a.ts', '../server/features/likes/likes.routes.ts', './b.ts'],
  ['web/start/main.tsx', '../../server/app.ts', '../app/a.tsx'],
  ['web/app/a.tsx', 'typebox', '../pages/a.tsx'],
  ['web/app/a.tsx', 'node:fs/promises', 'react'],
  ['web/pages/a.tsx', '../app/a.tsx', '../feed/a.tsx'],
  ['web/feed/a.tsx', '../pages/a.tsx', '../likes/a.tsx'],
  ['web/likes/a.tsx', '../feed/a.tsx', '../posts/view/a.tsx'],
  ['web/likes/a.tsx', '../replies/a.tsx', '../codes/a.tsx'],
  ['web/moderation/queue/a.tsx', '../../likes/a.tsx', '../appeals/a.tsx'],
  ['web/posts/view/a.tsx', '../../likes/a.tsx', '../cache/a.tsx'],
  ['web/codes/a.tsx', '../sign-in/a.tsx', '../ui/a.tsx'],
  ['web/session/a.ts', '../posts/cache/a.ts', '../http/a.ts'],
  ['web/history/a.ts', '../sign-in/a.ts', '../platform/a.ts'],
  ['web/platform/a.ts', '../session/a.ts', '../format/a.ts'],
  ['web/format/a.ts', '../http/a.ts', '../../contract/a.ts'],
  ['web/service-worker/a.ts', '../platform/a.ts', './b.ts'],
  ['web/ui/a.tsx', '../../contract/a.ts', '../format/a.ts'],
]

test('every import that the rules forbid is found, and none that they allow', () => {
  const files: Record<string, string> = {}
  const expected: string[] = []
  for (const [path, rows] of Map.groupBy(IMPORTS, ([path]) => path)) {
    const imports = rows.flatMap(([, forbidden, allowed]) => [allowed, forbidden])
    files[path] = imports.map((from, n) => `import type { A${n} } from '${from}'\n`).join('')
    expected.push(...rows.map((_, n) => `style/noRestrictedImports ${path}:${2 * n + 2}`))
  }
  // Some of these files import each other, which another rule forbids.
  const found = findViolations(plant(files)).filter((line) => line.startsWith('style/'))
  expect(found).toEqual(expected.sort())
})

test('two files that import each other are found, even if they import only types', () => {
  const files = {
    'server/kernel/db/a.ts': `import type { B } from './b.ts'\nexport type A = B\n`,
    'server/kernel/db/b.ts': `import type { A } from './a.ts'\nexport type B = A\n`,
  }
  expect(findViolations(plant(files))).toEqual([
    'suspicious/noImportCycles server/kernel/db/a.ts:1',
    'suspicious/noImportCycles server/kernel/db/b.ts:1',
  ])
})

test('a file that re-exports the names of another one is found', () => {
  const folder = plant({ 'web/ui/a.ts': `export { b } from './b.ts'\n` })
  expect(findViolations(folder)).toEqual(['performance/noBarrelFile web/ui/a.ts:1'])
})

test('no folder is a drawer for unrelated things', () => {
  const drawers = '{lib,libs,util,utils,common,misc,helper,helpers,shared}'
  const find = (name: string) =>
    globSync(`{contract,server,web,e2e,trials,bench,scripts}/**/${name}`, { cwd: ROOT })
  expect(find(drawers)).toEqual([])
})

/** Writes files and this repository's Biome configuration into a temporary folder; returns its path. */
function plant(files: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), 'imports-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  mkdirSync(join(folder, 'scripts'), { recursive: true })
  const settings = ['biome.jsonc', '.gitignore', 'scripts/calls.grit']
  for (const name of settings) copyFileSync(join(ROOT, name), join(folder, name))
  return folder
}

/** Returns what Biome's import rules find in a folder, as `rule path:line`. Throws if it fails. */
function findViolations(folder: string): string[] {
  const only = RULES.map((rule) => `--only=${rule}`)
  const args = [BIOME, 'lint', '--reporter=github', '--max-diagnostics=none', ...only, folder]
  const options = { cwd: folder, encoding: 'utf8' } as const
  const { stdout, stderr, status } = spawnSync(process.execPath, args, options)
  const found = [...stdout.matchAll(/title=lint\/([\w/]+),file=([^,]+),line=(\d+)/g)]
  if (status !== 0 && found.length === 0) throw new Error(`Biome failed: ${stderr}${stdout}`)
  return found
    .map(([, rule, file = '', line]) => `${rule} ${file.slice(folder.length + 1)}:${line}`)
    .sort()
}
