import { appendFile, chown, rename, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import Type, { type Static } from 'typebox'
import { Value } from 'typebox/value'
import type { Config } from '../../kernel/config/config.ts'
import { ifExists, readIfExists } from '../../kernel/config/read-if-exists.ts'
import {
  removeAbandonedFiles,
  removePath,
  unfinishedPath,
} from '../../kernel/config/replace-file.ts'
import type { Db } from '../../kernel/db/database.ts'
import { runOnDisk } from '../../kernel/disk/disk.ts'
import { type DeletionState, repeatDeletions } from './account-deletion.repository.ts'

/** The name of the list of deletions in a folder. */
export const DELETION_LIST = 'deletions.jsonl'

/** The most by which the clocks of nodes may differ. */
const CLOCKS_DIFFER_MS = 300_000

/** A line of the list. A restore resets ids, so `registeredAt` identifies the account too. */
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

/** The entries that this process has written in each folder, by account. */
export type ListedDeletions = Map<string, Map<string, string | null>>

/** Adds deleted and returned accounts to the list in each folder, which a restore reads. */
export async function addToDeletionList(
  states: DeletionState[],
  folders: string[],
  {
    listed = new Map(),
    onFailure,
  }: { listed?: ListedDeletions; onFailure: (cause: unknown) => void },
): Promise<void> {
  const notedAt = new Date().toISOString()
  const now = new Map(states.map((state) => [keyOf(state), state.deletedAt]))
  const addTo = async (folder: string) => {
    if (!(await exists(folder))) return
    const before = (await exists(join(folder, DELETION_LIST))) ? listed.get(folder) : undefined
    const fresh = states.filter((state) => before?.get(keyOf(state)) !== state.deletedAt)
    const lines = fresh.map((state) => JSON.stringify({ ...state, notedAt }))
    await append(folder, lines)
    listed.set(folder, now)
  }
  await Promise.all(
    folders.map((folder) => runOnDisk(folder, () => addTo(folder)).catch(onFailure)),
  )
}

async function exists(path: string): Promise<boolean> {
  return (await ifExists(stat(path))) !== undefined
}

/** Removes old lines from the beginning of each list, unless the list grows meanwhile. */
export async function pruneDeletions(folders: string[], before: Date): Promise<void> {
  const since = new Date(before.getTime() - CLOCKS_DIFFER_MS).toISOString()
  for (const folder of folders)
    await runOnDisk(folder, () => prune(join(folder, DELETION_LIST), since))
}

async function prune(path: string, since: string): Promise<void> {
  const text = (await readIfExists(path)) ?? ''
  const kept = firstKeptLine(text, since)
  if (kept === 0) return
  const { mode, uid, gid } = await stat(path)
  await removeAbandonedFiles(dirname(path))
  const fresh = unfinishedPath(path)
  try {
    await writeFile(fresh, text.slice(kept), { mode, flush: true, flag: 'wx' })
    await chown(fresh, uid, gid)
    if ((await stat(path)).size === Buffer.byteLength(text)) await rename(fresh, path)
  } finally {
    await removePath(fresh)
  }
}

/** Returns the index of the first line that was written at `since` or later. */
function firstKeptLine(text: string, since: string): number {
  const times = /"notedAt":"([^"]*)"[^\n]*\n/g
  let end = 0
  for (const { 0: line, 1: notedAt = '', index } of text.matchAll(times)) {
    if (notedAt >= since) break
    end = index + line.length
  }
  return end
}

/** Repeats the deletions since the backup. Returns their number; null if there is no list. */
export async function deleteAgain(
  db: Db,
  { folders, createdAt }: { folders: string[]; createdAt: string },
): Promise<number | null> {
  const lists = await Promise.all(
    folders.map((folder) => readIfExists(join(folder, DELETION_LIST))),
  )
  if (lists.every((text) => text === undefined)) return null
  const since = new Date(Date.parse(createdAt) - CLOCKS_DIFFER_MS).toISOString()
  const lines = lists.flatMap((text = '') => validLines(text))
  const recent = lines.filter(({ notedAt }) => notedAt > since)
  recent.sort((a, b) => Date.parse(a.notedAt) - Date.parse(b.notedAt))
  const last = new Map(recent.map((line) => [keyOf(line), line]))
  return repeatDeletions(db, [...last.values()])
}

const keyOf = ({ id, registeredAt }: DeletionState) => `${id} ${registeredAt}`

/** Returns the valid lines of a list: a full disk or a crash may have cut off a line. */
function validLines(text: string): Static<typeof Line>[] {
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
  const path = join(folder, DELETION_LIST)
  await appendFile(path, `\n${lines.join('\n')}\n`, { mode: 0o600, flush: true })
  // The list gets the folder's owner, so that the server can append to a list that root began.
  const { uid, gid } = await stat(folder)
  if (process.getuid?.() === 0) await chown(path, uid, gid)
}
