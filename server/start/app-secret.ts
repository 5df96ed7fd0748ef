import { hkdfSync } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { ConfigError } from '../config.ts'
import { keepSecret, readIfThere } from './secret-file.ts'

/** The secret kept in DATA_DIR/app-secret, made at the first start. Throws ConfigError when the kept one is too short. */
export async function keptAppSecret(dataDir: string): Promise<string> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  const path = join(dataDir, 'app-secret')
  const secret = await keepSecret(path)
  if (secret.length < 32) throw new ConfigError(`APP_SECRET: файл ${path} испорчен`)
  return secret
}

/** Whether DATA_DIR holds a secret that an earlier start made. */
export async function hasKeptSecret(dataDir: string): Promise<boolean> {
  return (await readIfThere(join(dataDir, 'app-secret'))) !== undefined
}

/** A 256-bit key for one purpose, derived from the secret (RFC 5869), so that no two purposes share a key. */
export function deriveKey(secret: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', purpose, 32))
}
