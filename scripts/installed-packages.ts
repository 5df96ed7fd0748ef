import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { StartError } from '../server/kernel/errors/app-error.ts'

type Locked = { version?: string; dev?: boolean; optional?: boolean; devOptional?: boolean }

/**
 * Throws StartError if the installed packages are not those of the lock file, as after `git pull`
 * without `npm ci`. Packages for development count only with `withDev`. Another package manager
 * leaves no list of what it has installed, and a release has no lock file: then nothing is checked.
 */
export function requireInstalledPackages(root: string, { withDev = false } = {}): void {
  const wanted = readPackages(join(root, 'package-lock.json'))
  const installed = readPackages(join(root, 'node_modules/.package-lock.json'))
  if (!wanted || !installed) return
  for (const [path, { version, dev, optional, devOptional }] of Object.entries(wanted)) {
    if (path === '' || optional || devOptional || (dev && !withDev)) continue
    if (installed[path]?.version === version) continue
    const name = path.replace(/^.*node_modules\//, '')
    throw new StartError(
      `Установлены не те пакеты, что нужны этой версии: нет ${name} ${version}. ` +
        `Выполните npm ci${withDev ? ' --include=dev' : ''}`,
    )
  }
}

function readPackages(path: string): Record<string, Locked> | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')).packages
  } catch {
    return undefined
  }
}
