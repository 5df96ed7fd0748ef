import { spawn } from 'node:child_process'
import { once } from 'node:events'
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
  { debianPackage, advice }: { debianPackage: string; advice: string },
): Promise<string> {
  if (!usualPaths.some(isExecutable)) await installDebianPackage(debianPackage)
  const found = usualPaths.find(isExecutable)
  if (found) return found
  throw new Error(advice)
}

export function findNginx(): Promise<string> {
  return findProgram(['/usr/sbin/nginx', '/usr/local/bin/nginx'], {
    debianPackage: 'nginx-light',
    advice: 'No nginx found: install it',
  })
}

/** Throws when apt-get fails. */
async function installDebianPackage(name: string): Promise<void> {
  if (!isRoot || !existsSync('/etc/debian_version')) return
  console.log(`No ${name} found: installing it with apt-get, which can take a minute…`)
  await runApt(['update', '-qq'])
  await runApt(['install', '-y', '-qq', '--no-install-recommends', name])
}

async function runApt(args: string[]): Promise<void> {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const apt = spawn('apt-get', args, { env, stdio: ['ignore', 'ignore', 'inherit'] })
  const [code] = await once(apt, 'exit')
  if (code !== 0) throw new Error(`apt-get ${args[0]} failed with exit code ${code}`)
}
