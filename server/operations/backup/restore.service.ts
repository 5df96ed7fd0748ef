import { dirname } from 'node:path'
import type pg from 'pg'
import {
  deleteAgain,
  deletionFolders,
} from '../../features/account-deletion/deletion-list.service.ts'
import type { Config } from '../../kernel/config/config.ts'
import { withStartDatabase } from '../../kernel/db/database.ts'
import { isKnownMigration, migrate } from '../../kernel/db/migrate.ts'
import { appendToJournal } from '../../kernel/journal/journal.ts'
import type { SecretOutcome, SecretSource } from '../start/restored-secret.ts'
import { placeAppSecret, planSecretRestore } from '../start/restored-secret.ts'
import { readManifest } from './backup-file.ts'
import { BackupError } from './backup-folder.ts'
import { loadIntoScratch, raiseIds } from './load-scratch.repository.ts'
import type { Manifest } from './manifest.ts'
import type { Progress } from './progress.ts'
import {
  countLoadedSessions,
  countServers,
  dropScratch,
  hasWall,
  replaceTables,
  scratchUrl,
  withRestoreLock,
} from './scratch-schema.repository.ts'
import { selectSequences } from './tables.repository.ts'

type Options = {
  actor: string
  secretSource: SecretSource & Pick<Config, 'backupDir'>
  /** Resolves if the wall in the database may be replaced; otherwise rejects. */
  requireReplaceable: () => Promise<void>
  isDryRun?: boolean
  onProgress?: Progress
  signal?: AbortSignal
}

export type RestoreResult = { manifest: Manifest; secret: SecretOutcome; counts?: RestoredCounts }

type RestoredCounts = {
  /** The number of accounts that were deleted again; null if there is no list of deletions. */
  deletedAgain: number | null
  sessions: number
  /** The tables and columns in the backup that are no version's, and were left out. */
  foreign: string[]
}

type Reading = { signal?: AbortSignal | undefined; onProgress?: Progress | undefined }

/** Returns the manifest. Throws BackupError for a damaged backup or an unknown migration. */
export async function readRestorable(path: string, reading: Reading): Promise<Manifest> {
  const manifest = await readManifest(path, reading)
  if (isKnownMigration(manifest.migration)) return manifest
  throw new BackupError(
    `База в копии другой версии: ${manifest.version} (в ней есть ${manifest.migration}). ` +
      'Поставьте ту версию и восстановите копию ею.',
  )
}

/** Checks a backup and its secret. Throws BackupError, or StartError for another APP_SECRET. */
export async function requireRestorable(
  path: string,
  secretSource: SecretSource,
  reading: Reading,
): Promise<RestoreResult> {
  const manifest = await readRestorable(path, reading)
  return { manifest, secret: await planSecretRestore(manifest.secret, secretSource) }
}

/**
 * Restores a backup into a database that no server uses. The former wall stays until everything is
 * loaded and migrated. Throws BackupError or StartError.
 */
export async function restoreBackup(
  url: string,
  path: string,
  options: Options,
): Promise<RestoreResult> {
  const restorable = await requireRestorable(path, options.secretSource, options)
  const counts = await withRestoreLock(url, async (client) => {
    await requireNoServer(client)
    if (await hasWall(client)) await options.requireReplaceable()
    if (!options.isDryRun) return replaceWall(client, url, { ...options, ...restorable, path })
  })
  if (!counts) return restorable
  await migrate(url)
  return { ...restorable, counts }
}

async function replaceWall(
  client: pg.Client,
  url: string,
  {
    path,
    manifest,
    secret,
    actor,
    secretSource,
    signal,
    onProgress = () => {},
  }: Options & RestoreResult & { path: string },
): Promise<RestoredCounts> {
  try {
    const former = await selectSequences(client)
    const backup = { path, manifest }
    const foreign = await loadIntoScratch(client, url, { backup, onProgress, signal })
    const { createdAt } = manifest
    await raiseIds(client, { former, createdAt })
    const folders = [dirname(path), ...deletionFolders(secretSource)]
    const deletedAgain = await withStartDatabase(scratchUrl(url), async ({ db }) => {
      await appendToJournal(db, { actor, action: 'wall.restore', details: { createdAt } })
      return deleteAgain(db, { folders, createdAt })
    })
    const counts = { deletedAgain, sessions: await countLoadedSessions(client), foreign }
    signal?.throwIfAborted()
    await replaceTables(client, async () => {
      await requireNoServer(client)
      // Places the secret last, because after a failure the former wall needs its own secret.
      if (secret === 'placed' && manifest.secret !== null) {
        await placeAppSecret(manifest.secret, secretSource.dataDir)
      }
    })
    return counts
  } catch (error) {
    await dropScratch(client)
    throw error
  }
}

async function requireNoServer(client: pg.Client): Promise<void> {
  if ((await countServers(client)) === 0) return
  throw new BackupError('Сервер работает с этой базой. Остановите его на всех узлах и повторите.')
}
