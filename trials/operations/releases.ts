import { appendFile, copyFile, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  copyPart,
  describeBuild,
  describeMigrations,
  PARTS,
} from '../../scripts/release/release.ts'
import { ROOT, run } from './deploy-file.ts'

export const { version: VERSION } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'))

/** Makes a release of this tree in a folder, with a link to Node and the packages. */
export async function copyTree(release: string, version?: string): Promise<void> {
  await mkdir(release, { recursive: true })
  for (const part of PARTS) await copyPart(part, ROOT, release)
  if (version !== undefined) await edit(join(release, 'package.json'), setVersion(version))
  await describeMigrations(release)
  await describeBuild(release)
  await symlink(join(ROOT, 'node_modules'), join(release, 'node_modules'))
}

const setVersion = (version: string): Edit[] => [['"version": "[^"]+"', `"version": "${version}"`]]

/** The path of a script that only a release after `addMigration` has. */
export const NEXT_SCRIPT = '/assets/next-12345678.js'

/**
 * Turns a release into the one after it: with a higher version, another script, and one more
 * migration, additive or not.
 */
export async function addMigration(release: string, { isAdditive }: { isAdditive: boolean }) {
  await writeFile(
    join(release, 'server/schema/999-next.sql'),
    `${isAdditive ? '-- additive' : ''}
ALTER TABLE posts ADD next text;
CREATE TABLE next_things (id bigint PRIMARY KEY);
`,
  )
  await writeFile(join(release, 'dist/web', NEXT_SCRIPT), 'export {}')
  const kind = isAdditive ? 'additive' : 'breaking'
  await appendFile(join(release, 'migrations'), `999-next ${kind}\n`)
  await edit(join(release, 'package.json'), setVersion('99.0.0'))
  await describeBuild(release)
}

/** Makes a Debian package out of another one, whose program `change` changes. */
export async function repackDeb(
  deb: string,
  folder: string,
  change: (program: string) => Promise<void>,
): Promise<string> {
  const root = join(folder, 'repacked')
  await run('dpkg-deb', ['-R', deb, root])
  const program = join(root, 'usr/lib/vslukh')
  await change(program)
  await describeBuild(program)
  for (const name of ['migrations', 'build']) {
    await copyFile(join(program, name), join(root, 'DEBIAN', name))
  }
  const { version } = JSON.parse(await readFile(join(program, 'package.json'), 'utf8'))
  await edit(join(root, 'DEBIAN/control'), [['Version: .*', `Version: ${version}`]])
  const repacked = join(folder, 'repacked.deb')
  await run('dpkg-deb', ['--root-owner-group', '-Zgzip', '-z1', '--build', root, repacked])
  return repacked
}

export type Edit = [pattern: string, replacement: string]

export async function edit(path: string, replacements: Edit[]): Promise<void> {
  let text = await readFile(path, 'utf8')
  for (const [pattern, replacement] of replacements) {
    const edited = text.replace(new RegExp(pattern), replacement)
    if (edited === text) throw new Error(`${path} does not contain ${pattern}`)
    text = edited
  }
  await writeFile(path, text)
}
