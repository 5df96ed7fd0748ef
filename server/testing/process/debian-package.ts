import { execFileSync } from 'node:child_process'
import { accessSync, constants, existsSync } from 'node:fs'

export const isRoot = process.getuid?.() === 0

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Else installs the Debian package, which only root can. Throws an Error with `advice`. */
export async function findProgram(
  usualPaths: string[],
  debianPackage: string,
  advice = `Not found: ${usualPaths.join(', ')}. Install it (Debian: ${debianPackage})`,
): Promise<string> {
  if (!usualPaths.some(isExecutable)) installDebianPackage(debianPackage)
  const found = usualPaths.find(isExecutable)
  if (found) return found
  throw new Error(advice)
}

export function findNginx(): Promise<string> {
  return findProgram(['/usr/sbin/nginx', '/usr/local/bin/nginx'], 'nginx-light')
}

/** Throws when apt-get fails. */
function installDebianPackage(name: string): void {
  if (!isRoot || !existsSync('/etc/debian_version')) return
  console.log(`No ${name} found: installing it with apt-get, which can take a minute…`)
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  for (const args of [['update'], ['install', '-y', '--no-install-recommends', name]]) {
    execFileSync('apt-get', ['-qq', ...args], { env, stdio: ['ignore', 'ignore', 'inherit'] })
  }
}
