import { randomBytes } from 'node:crypto'
import { link, open, rename } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { errorCode } from '../../kernel/db/database-errors.ts'

/** The codes of a folder that knows no links, as on exFAT. */
const NO_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']

/** A file is written under a name of its own, so that two at once cannot write into one file. */
export function unfinishedPath(path: string): string {
  return join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}`)
}

/** Moves a complete file to its final name. Unlike a rename this never replaces a file: EEXIST. */
export async function nameFile(
  unfinished: string,
  path: string,
  makeLink: typeof link = link,
): Promise<void> {
  try {
    await makeLink(unfinished, path)
  } catch (error) {
    if (!NO_LINKS.includes(errorCode(error))) throw error
    // Whoever creates the empty file first may replace it by the complete one.
    await (await open(path, 'wx', 0o600)).close()
    await rename(unfinished, path)
  }
}
