import { createHmac, hkdfSync, type KeyObject, randomBytes, timingSafeEqual } from 'node:crypto'
import { link, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ConfigError } from './config-reader.ts'
import { readIfExists } from './read-if-exists.ts'

const SHORTEST_SECRET = 32

export const secretFile = (dataDir: string) => join(dataDir, 'app-secret')

/** Reads DATA_DIR/app-secret, or creates it at the first start. Throws ConfigError if too short. */
export async function loadAppSecret(dataDir: string): Promise<string> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  const path = secretFile(dataDir)
  const secret = (await readStoredSecret(dataDir)) ?? (await createSecret(path))
  if (secret.length < SHORTEST_SECRET) throw new ConfigError(`APP_SECRET: файл ${path} испорчен`)
  return secret
}

export async function readStoredSecret(dataDir: string): Promise<string | undefined> {
  return (await readIfExists(secretFile(dataDir)))?.trim()
}

/** Creates the file by `link`, so that two concurrent starts use the same secret. */
async function createSecret(path: string): Promise<string> {
  const fresh = `${path}.${randomBytes(6).toString('hex')}`
  const secret = randomBytes(32).toString('base64url')
  await writeFile(fresh, `${secret}\n`, { mode: 0o600, flush: true })
  try {
    await link(fresh, path)
    return secret
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    return (await readFile(path, 'utf8')).trim()
  } finally {
    await rm(fresh)
  }
}

/** Returns the path of the secret if users other than its owner may access the file. */
export async function readableSecret(dataDir: string): Promise<string | undefined> {
  const path = secretFile(dataDir)
  const { mode } = await stat(path)
  return mode & 0o077 ? path : undefined
}

/** Rejects if a secret is already stored. */
export async function storeAppSecret(dataDir: string, secret: string): Promise<void> {
  await writeFile(secretFile(dataDir), `${secret}\n`, { mode: 0o600, flag: 'wx', flush: true })
}

/** Derives a key for one purpose (RFC 5869), so that no two purposes share a key. */
export function deriveKey(secret: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', purpose, 32))
}

/** Returns a text and its HMAC-SHA-256 in base64url. It is always the same, so it is not stored. */
export function signText(text: string, key: Buffer | KeyObject): string {
  return `${text}.${createHmac('sha256', key).update(text).digest('base64url')}`
}

/** Returns the text that `signText` has signed; undefined if it is forged. */
export function readSigned(signed: string, key: Buffer | KeyObject): string | undefined {
  const text = signed.slice(0, Math.max(0, signed.lastIndexOf('.')))
  return isSameSecret(signed, signText(text, key)) ? text : undefined
}

/** Compares codes or secrets in a time that does not depend on where they differ. */
export function isSameSecret(given: string, right: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(right)]
  return a.length === b.length && timingSafeEqual(a, b)
}
