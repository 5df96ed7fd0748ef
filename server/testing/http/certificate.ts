import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { folderForTest } from '../process/folder-for-test.ts'

const execute = promisify(execFile)

/** The certificate is valid from now, or from the time of the clock that `env` sets. */
export async function certificateForTest(days: number, env: Record<string, string> = {}) {
  const folder = await folderForTest()
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost']
  const made = ['-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', cert]
  await execute('openssl', ['req', ...made, '-days', String(days), ...subject], {
    env: { ...process.env, ...env },
  })
  return { path: cert, key: await readFile(key), cert: await readFile(cert) }
}
