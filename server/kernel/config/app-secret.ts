import { createHmac, hkdfSync, type KeyObject, randomBytes, timingSafeEqual } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { ConfigError } from './config-reader.ts'
import { readIfExists } from './read-if-exists.ts'
import { replaceFile } from './replace-file.ts'

const SHORTEST_SECRET = 32

export const secretFile = (dataDir: string) => join(dataDir, 'app-secret')

/** Reads DATA_DIR/app-secret, or creates it at the first start. Throws ConfigError if too short. */
export async function loadAppSecret(dataDir: string): Promise<string> {
  const stored = await readStoredSecret(dataDir)
  if (stored === undefined) return storeAppSecret(dataDir, randomBytes(32).toString('base64url'))
  if (stored.length >= SHORTEST_SECRET) return stored
  throw new ConfigError(`APP_SECRET: файл ${secretFile(dataDir)} испорчен`)
}

export async function readStoredSecret(dataDir: string): Promise<string | undefined> {
  return (await readIfExists(secretFile(dataDir)))?.trim()
}

/**
 * Stores the secret, and returns it. The caller is alone: it
 * holds the lock on DATA_DIR or on the database.
 */
export async function storeAppSecret(dataDir: string, secret: string): Promise<string> {
  const path = secretFile(dataDir)
  await replaceFile(path, `${secret}\n`)
  return secret
}

/** Returns the path of the secret if users other than its owner may access the file. */
export async function findExposedSecret(dataDir: string): Promise<string | undefined> {
  const path = secretFile(dataDir)
  const { mode } = await stat(path)
  return mode & 0o077 ? path : undefined
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
export function readSignedText(signedText: string, key: Buffer | KeyObject): string | undefined {
  const text = signedText.slice(0, Math.max(0, signedText.lastIndexOf('.')))
  return isSameSecret(signedText, signText(text, key)) ? text : undefined
}

/** Compares codes or secrets in a time that does not depend on where they differ. */
export function isSameSecret(given: string, right: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(right)]
  return a.length === b.length && timingSafeEqual(a, b)
}
