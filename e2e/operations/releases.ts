import { mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { run } from './deploy-file.ts'

/**
 * Unpacks an archive into a folder of its own name, as an operator does. Returns the path of the
 * release.
 */
export async function unpackRelease(archive: string, folder: string): Promise<string> {
  await mkdir(folder, { recursive: true })
  await run('tar', ['-xzf', archive, '-C', folder])
  return join(folder, basename(archive, '.tar.gz'))
}

/** Makes a link lead to a release, by one rename, so that it always leads somewhere. */
export async function linkRelease(link: string, release: string): Promise<void> {
  await rm(`${link}.next`, { force: true })
  await symlink(release, `${link}.next`)
  await rename(`${link}.next`, link)
}

/** The path of a script that only a release after `addMigration` has. */
export const NEXT_SCRIPT = '/assets/next-12345678.js'

/**
 * Turns a release into the one after it: with a higher version, another script, and one more
 * migration, additive or not.
 */
export async function addMigration(release: string, { isAdditive }: { isAdditive: boolean }) {
  await writeFile(
    join(release, 'server/kernel/db/migrations/999-next.ts'),
    `import { sql } from 'kysely'
export const isAdditive = ${isAdditive}
export async function up(db) {
  await sql\`ALTER TABLE posts ADD next text\`.execute(db)
  await sql\`CREATE TABLE next_things (id bigint PRIMARY KEY)\`.execute(db)
}
`,
  )
  await edit(join(release, 'server/kernel/db/migrate.ts'), [
    ['export const MIGRATIONS', `import * as next from './migrations/999-next.ts'\n$&`],
    ["\\n  '007-account-deletion'", `\n  '999-next': next,$&`],
  ])
  await writeFile(join(release, 'dist/web', NEXT_SCRIPT), 'export {}')
  await edit(join(release, 'package.json'), [['"version": "[^"]+"', '"version": "99.0.0"']])
}

async function edit(path: string, replacements: [string, string][]): Promise<void> {
  let text = await readFile(path, 'utf8')
  for (const [pattern, replacement] of replacements) {
    const edited = text.replace(new RegExp(pattern), replacement)
    if (edited === text) throw new Error(`${path} does not contain ${pattern}`)
    text = edited
  }
  await writeFile(path, text)
}
