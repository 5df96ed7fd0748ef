import { lstat, mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { parseEnv } from 'node:util'
import { type Config, readConfig } from '../../server/kernel/config/config.ts'
import { ConfigError } from '../../server/kernel/config/config-reader.ts'
import { ifExists } from '../../server/kernel/config/read-if-exists.ts'
import { replaceFile } from '../../server/kernel/config/replace-file.ts'
import { type Env, Refusal, UsageError } from '../command.ts'

/** The settings file, which deploy/vslukh.service names too. */
export const SETTINGS_FILE = '/etc/vslukh.env'
/** The folder of backups, in which deploy/vslukh.service lets the server write. */
export const BACKUP_FOLDER = '/var/backups/vslukh'

/** Parses the text of the settings file. Throws UsageError for a wrong setting. */
export function readSettings(text: string): Config {
  try {
    return readConfig({ DATA_DIR: '/var/lib/vslukh', ...parseEnv(text) }, '/')
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    throw new UsageError(`${SETTINGS_FILE}, ${error.message}`)
  }
}

/** Returns the file's text with changed settings replaced in place, and new settings appended. */
export function withSettings(text: string, settings: Env): string {
  const set = parseEnv(text)
  let changed = text === '' || text.endsWith('\n') ? text : `${text}\n`
  for (const [name, value] of Object.entries(settings)) {
    if (value === undefined || value === set[name]) continue
    const line = `${name}=${quoteValue(name, value)}`
    const isThere = new RegExp(`^[ \\t]*(?:export[ \\t]+)?${name}[ \\t]*=.*$`, 'gm')
    if (isThere.test(changed)) changed = changed.replace(isThere, () => line)
    else changed += `${line}\n`
  }
  return changed
}

/** Quotes a value so that systemd and Node read it alike. Throws UsageError if no quotes do. */
function quoteValue(name: string, value: string): string {
  if (/^[\p{L}\p{N}@%+=:,.?&/_~*!()[\]-]*$/u.test(value)) return value
  const quote = ["'", '"'].find((mark) => !value.includes(mark))
  if (quote && !/[\\\n\r$`]/.test(value)) return `${quote}${value}${quote}`
  throw new UsageError(`${name}: без знаков \\ $ \` и без кавычек обоих видов сразу`)
}

/** Atomically replaces a file for the wall's group. Throws Refusal unless its folder is root's. */
export async function writeForWall(path: string, text: string, gid: number): Promise<void> {
  const folder = dirname(path)
  // Comes first, because mkdir() follows links.
  await requireRootsFolder(await deepestExistingFolder(folder))
  await mkdir(folder, { recursive: true, mode: 0o755 })
  await requireRootsFolder(folder)
  await replaceFile(path, text, { mode: 0o640, owner: { uid: 0, gid } })
}

async function deepestExistingFolder(folder: string): Promise<string> {
  return (await ifExists(lstat(folder))) ? folder : deepestExistingFolder(dirname(folder))
}

async function requireRootsFolder(folder: string): Promise<void> {
  // Uses lstat() rather than stat(), so that a link in the path is refused.
  const entry = await lstat(folder)
  if (!entry.isDirectory()) {
    const what = entry.isSymbolicLink() ? 'ссылка' : 'файл'
    throw new Refusal(`${folder} — ${what}, а нужна папка: выберите папку в /etc`)
  }
  if (entry.uid !== 0 || entry.mode & 0o022) {
    throw new Refusal(`${folder} может изменить не только root: выберите папку в /etc`)
  }
  if (folder !== '/') await requireRootsFolder(dirname(folder))
}
