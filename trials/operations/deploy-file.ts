import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { test } from 'vitest'
import { isRoot } from '../../server/testing/debian-package.ts'

export const ROOT = join(import.meta.dirname, '../..')
export const run = promisify(execFile)
/** For tests that mount disks, change users or boot a machine. */
export const asRoot = test.skipIf(!isRoot)

/**
 * Replaces paths and addresses of a file of deploy/ with those of a test. Throws if one is missing.
 */
export async function readDeployFile(name: string, replacements: [string, string][]) {
  let text = await readFile(join(ROOT, 'deploy', name), 'utf8')
  for (const [written, used] of replacements) {
    if (!text.includes(written)) throw new Error(`deploy/${name} does not contain ${written}`)
    text = text.replaceAll(written, used)
  }
  return text
}

/** Makes a self-signed certificate; `pem` contains certificate and key. */
export async function makeCertificate(folder: string) {
  const [cert, key, pem] = [
    join(folder, 'cert.pem'),
    join(folder, 'key.pem'),
    join(folder, 'both.pem'),
  ]
  await run('openssl', [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'],
    ...['-days', '2', '-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'],
    ...['-keyout', key, '-out', cert],
  ])
  await writeFile(pem, (await readFile(cert, 'utf8')) + (await readFile(key, 'utf8')))
  return { cert, key, pem }
}
