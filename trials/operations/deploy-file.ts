import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { test } from 'vitest'
import { findProgram, isRoot } from '../../server/testing/process/debian-package.ts'

export const ROOT = join(import.meta.dirname, '../..')
export const run = promisify(execFile)
/** For tests that mount disks, change users or boot a machine. */
export const asRoot = test.skipIf(!isRoot)

/** Finds a program, or installs its Debian package for root. */
export const programOf = (debianPackage: string, ...paths: string[]) =>
  findProgram(paths, { debianPackage, advice: `Install ${debianPackage}` })

/** Runs a program. Never rejects. */
export const attempt = (file: string, args: string[], env?: Record<string, string>) =>
  run(file, args, { env }).then(
    ({ stdout: out, stderr: err }) => ({ code: 0, out, err }),
    ({ code, stdout: out, stderr: err }) => ({ code: Number(code), out, err }),
  )

/**
 * Copies a file of deploy/ into a folder, with the paths and addresses of a test. Returns its path.
 * Throws if one of those to replace is missing.
 */
export async function copyDeployFile(name: string, folder: string, places: [string, string][]) {
  let text = await readFile(join(ROOT, 'deploy', name), 'utf8')
  for (const [written, used] of places) {
    if (!text.includes(written)) throw new Error(`deploy/${name} does not contain ${written}`)
    text = text.replaceAll(written, used)
  }
  const path = join(folder, basename(name))
  await writeFile(path, text)
  return path
}
