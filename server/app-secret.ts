import { hkdfSync, randomBytes } from 'node:crypto'
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ConfigError } from './config.ts'

/**
 * The secret kept in DATA_DIR/app-secret (mode 0600), made at the first start. Two first starts at once agree on one:
 * linking a complete file into place fails for the second. Throws ConfigError when the kept one is too short.
 */
export async function keptAppSecret(dataDir: string): Promise<string> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  const path = join(dataDir, 'app-secret')
  const fresh = `${path}.${randomBytes(6).toString('hex')}`
  if ((await readIfThere(path)) === undefined) {
    await writeFile(fresh, `${randomBytes(32).toString('base64url')}\n`, {
      mode: 0o600,
      flush: true,
    })
    await link(fresh, path).catch(ignoreExisting)
    await rm(fresh)
  }
  const secret = (await readFile(path, 'utf8')).trim()
  if (secret.length < 32) throw new ConfigError(`APP_SECRET: файл ${path} испорчен`)
  return secret
}

/** A 256-bit key for one purpose, derived from the secret (RFC 5869), so that no two purposes share a key. */
export function deriveKey(secret: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', purpose, 32))
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

function ignoreExisting(error: NodeJS.ErrnoException) {
  if (error.code !== 'EEXIST') throw error
}
