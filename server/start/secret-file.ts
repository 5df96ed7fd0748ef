import { randomBytes } from 'node:crypto'
import { link, readFile, rm, writeFile } from 'node:fs/promises'

/**
 * The text of a file that only its owner can read, without the space around it; where there is none yet, made of 256 random bits.
 * Two who make it at once agree on one: linking a complete file into place fails for the second.
 */
export async function keepSecret(path: string): Promise<string> {
  const kept = await readIfThere(path)
  if (kept !== undefined) return kept.trim()
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

/** The text of a file; undefined where there is none. */
export async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
