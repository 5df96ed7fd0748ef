import { existsSync } from 'node:fs'
import { appendFile, chown, stat } from 'node:fs/promises'
import { join } from 'node:path'
import Type, { type Static } from 'typebox'
import { Value } from 'typebox/value'
import type { Config } from '../../kernel/config/config.ts'
import { readIfExists } from '../../kernel/config/read-if-exists.ts'
import type { Db } from '../../kernel/db/database.ts'
import {
  type DeletionState,
  repeatDeletions,
  selectDeletionStates,
} from './deletion-states.repository.ts'

const NAME = 'deletions.jsonl'

/** Nodes may see different times. */
const CLOCKS_DIFFER_MS = 300_000

/** A restore sets the sequence of ids back: the time of registration tells accounts apart. */
const Line = Type.Object({
  id: Type.String({ pattern: '^[1-9][0-9]{0,17}$' }),
  registeredAt: Type.String({ format: 'date-time' }),
  deletedAt: Type.Union([Type.Null(), Type.String({ format: 'date-time' })]),
  notedAt: Type.String({ format: 'date-time' }),
})

export function deletionFolders({
  backupDir,
  dataDir,
}: Pick<Config, 'backupDir' | 'dataDir'>): string[] {
  return backupDir === undefined ? [dataDir] : [backupDir, dataDir]
}

/**
 * Adds who has left or returned to the list in each folder, so that a restore can leave them out. A
 * folder that cannot be written to holds up nobody.
 */
export async function noteDeletions(
  db: Db,
  folders: string[],
  onFailure: (cause: unknown) => void,
): Promise<void> {
  const states = await selectDeletionStates(db)
  if (states.length === 0) return
  const notedAt = new Date().toISOString()
  for (const folder of folders.filter((name) => existsSync(name))) {
    try {
      const noted = lastOfEach(await readLines(folder))
      const fresh = states.filter((state) => noted.get(keyOf(state))?.deletedAt !== state.deletedAt)
      await append(
        folder,
        fresh.map((state) => JSON.stringify({ ...state, notedAt })),
      )
    } catch (cause) {
      onFailure(cause)
    }
  }
}

/** Deletes accounts again that were deleted since the backup. Returns how many; null: no list. */
export async function deleteAgain(
  db: Db,
  { folders, createdAt }: { folders: string[]; createdAt: string },
): Promise<number | null> {
  if (!folders.some((folder) => existsSync(join(folder, NAME)))) return null
  const since = new Date(Date.parse(createdAt) - CLOCKS_DIFFER_MS).toISOString()
  const lines = (await Promise.all(folders.map(readLines))).flat()
  const noted = lines.filter(({ notedAt }) => notedAt > since)
  noted.sort((a, b) => Date.parse(a.notedAt) - Date.parse(b.notedAt))
  return repeatDeletions(db, [...lastOfEach(noted).values()])
}

const keyOf = ({ id, registeredAt }: DeletionState) => `${id} ${registeredAt}`

const lastOfEach = (lines: Static<typeof Line>[]) =>
  new Map(lines.map((line) => [keyOf(line), line]))

/** A line that a full disk or a crash has cut off counts as not written, and is written again. */
async function readLines(folder: string): Promise<Static<typeof Line>[]> {
  const text = (await readIfExists(join(folder, NAME))) ?? ''
  return text.split('\n').flatMap((line) => {
    try {
      const value: unknown = JSON.parse(line)
      return Value.Check(Line, value) ? [value] : []
    } catch {
      return []
    }
  })
}

async function append(folder: string, lines: string[]): Promise<void> {
  if (lines.length === 0) return
  const path = join(folder, NAME)
  await appendFile(path, `\n${lines.join('\n')}\n`, { mode: 0o600, flush: true })
  // The server continues a list that a command of root has begun.
  const { uid, gid } = await stat(folder)
  if (process.getuid?.() === 0) await chown(path, uid, gid)
}
