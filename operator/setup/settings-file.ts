import { chmod, chown, mkdir, rename, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { parseEnv } from 'node:util'
import type { Env } from '../command.ts'
import { UsageError } from '../command-errors.ts'

/** As deploy/vslukh.service names it. */
export const SETTINGS_FILE = '/etc/vslukh.env'

/** Returns the file's text with the settings that differ, each in its line or in a new one. */
export function withSettings(text: string, settings: Env): string {
  const set = parseEnv(text)
  let changed = text === '' || text.endsWith('\n') ? text : `${text}\n`
  for (const [name, value] of Object.entries(settings)) {
    if (value === undefined || value === set[name]) continue
    const line = `${name}=${quoted(name, value)}`
    const isThere = new RegExp(`^[ \\t]*(?:export[ \\t]+)?${name}[ \\t]*=.*$`, 'gm')
    if (isThere.test(changed)) changed = changed.replace(isThere, () => line)
    else changed += `${line}\n`
  }
  return changed
}

/** Quotes a value so that systemd and Node read it equally. Throws UsageError if none can. */
function quoted(name: string, value: string): string {
  if (/^[\p{L}\p{N}@%+=:,.?&/_~*!()[\]-]*$/u.test(value)) return value
  const quote = ["'", '"'].find((mark) => !value.includes(mark))
  if (quote && !/[\\\n\r$`]/.test(value)) return `${quote}${value}${quote}`
  throw new UsageError(`${name}: без знаков \\ $ \` и без кавычек обоих видов сразу`)
}

/** Replaces a file at once by one that root writes and the wall's user reads. */
export async function writeForWall(path: string, text: string, gid: number): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o755 })
  const fresh = `${path}.new`
  await writeFile(fresh, text, { mode: 0o600, flush: true })
  await chown(fresh, 0, gid)
  await chmod(fresh, 0o640)
  await rename(fresh, path)
}
