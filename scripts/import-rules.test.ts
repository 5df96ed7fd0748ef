import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'

const ROOT = join(import.meta.dirname, '..')
const BIOME = join(ROOT, 'node_modules/@biomejs/biome/bin/biome')
const RULE = 'style/noRestrictedImports'

/** A file of each rule in biome.jsonc, what it may not import, and what it may. */
const IMPORTS = [
  ['contract/a.ts', 'node:fs', './b.ts'],
  ['server/app.ts', 'react', './features/likes/likes.routes.ts'],
  ['server/kernel/http/a.ts', '../../features/likes/likes.service.ts', '../db/a.ts'],
  ['server/kernel/mail/a.ts', 'nodemailer/lib/smtp-connection', 'nodemailer'],
  ['server/features/likes/a.ts', '../posts/posts.repository.ts', '../posts/posts.service.ts'],
  ['server/features/likes/likes.service.ts', './likes.routes.ts', '../posts/posts.repository.ts'],
  ['server/features/likes/likes.repository.ts', './likes.service.ts', '../../kernel/db/a.ts'],
  ['server/features/posts/a.service.ts', '../likes/a.ts', '../account/account.repository.ts'],
  ['server/pages/a.ts', '../features/posts/posts.routes.ts', '../features/posts/post-lists.ts'],
  ['server/operations/backup/a.ts', '../../app.ts', '../../features/posts/post-lists.ts'],
  ['operator/a.ts', 'kysely', '../server/features/likes/likes.service.ts'],
  ['web/app/a.tsx', '../../server/app.ts', '../pages/a.tsx'],
  ['web/pages/a.tsx', '../app/a.tsx', '../feed/a.tsx'],
  ['web/feed/a.tsx', '../pages/a.tsx', '../likes/a.tsx'],
  ['web/likes/a.tsx', '../replies/a.tsx', '../codes/a.tsx'],
  ['web/moderation/queue/a.tsx', '../../likes/a.tsx', '../appeals/a.tsx'],
  ['web/posts/view/a.tsx', '../../likes/a.tsx', '../cache/a.tsx'],
  ['web/codes/a.tsx', '../sign-in/a.tsx', '../ui/a.tsx'],
  ['web/session/a.ts', '../posts/cache/a.ts', '../http/a.ts'],
  ['web/http/a.ts', '../session/a.ts', '../ui/a.ts'],
  ['web/history/a.ts', '../session/a.ts', '../platform/a.ts'],
  ['web/platform/a.ts', '../session/a.ts', '../format/a.ts'],
  ['web/service-worker/a.ts', '../platform/a.ts', './b.ts'],
  ['web/ui/a.tsx', '../../contract/a.ts', '../format/a.ts'],
] as const

test('every import that the rules forbid is found, and none that they allow', () => {
  const folder = mkdtempSync(join(tmpdir(), 'imports-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const [path, forbidden, allowed] of IMPORTS) {
    const imports = [allowed, forbidden].map((from, n) => `import type { A${n} } from '${from}'\n`)
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), imports.join(''))
  }
  mkdirSync(join(folder, 'scripts'))
  const settings = [
    'biome.jsonc',
    '.gitignore',
    'scripts/calls.grit',
    'scripts/files.grit',
    'scripts/hands.grit',
  ]
  for (const name of settings) copyFileSync(join(ROOT, name), join(folder, name))
  const args = ['lint', '--reporter=github', '--max-diagnostics=none', `--only=${RULE}`, folder]
  const { stdout } = spawnSync(process.execPath, [BIOME, ...args], {
    cwd: folder,
    encoding: 'utf8',
  })
  const found = [...stdout.matchAll(/file=([^,]+),line=(\d+)/g)].map(
    ([, file = '', line]) => `${file.slice(folder.length + 1)}:${line}`,
  )
  expect(found.sort()).toEqual(IMPORTS.map(([path]) => `${path}:2`).sort())
})
