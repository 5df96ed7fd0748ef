import { open } from 'node:fs/promises'
import { BackupWriter } from '../../operations/backup/backup-file.ts'
import type { Manifest, Part } from '../../operations/backup/manifest.ts'
import { databaseForTest } from './database-for-test.ts'

/** Returns the URL of a new database without any table. */
export const emptyDatabase = () => databaseForTest('template0')

/** Writes a file in the format of a backup, whatever its manifest contains. */
export async function writeBackup(
  path: string,
  manifest: Partial<Manifest>,
  fill: (writer: BackupWriter) => Promise<Part[]> = async () => [],
): Promise<void> {
  const file = await open(path, 'wx')
  const writer = new BackupWriter((chunk) => file.appendFile(chunk))
  const parts = await fill(writer)
  await writer.finish({
    format: 1,
    product: 'vslukh',
    version: '0.0.1',
    migration: '',
    createdAt: new Date().toISOString(),
    secret: null,
    sequences: [],
    ...manifest,
    parts,
  })
  await file.close()
}

export const BACKUP_SECRET = 'y'.repeat(43)

type RestoreOptions = { requireReplaceable?: () => Promise<void>; appSecret?: string | undefined }

/** Unless `requireReplaceable` is given, the restore replaces no wall. */
export function restoreOptions(
  dataDir: string,
  { requireReplaceable = keepWall, ...secret }: RestoreOptions = {},
) {
  const secrets = {
    dataDir,
    appSecret: BACKUP_SECRET,
    acceptNewSecret: false,
    backupDir: undefined,
  }
  return { actor: 'masha', secretSource: { ...secrets, ...secret }, requireReplaceable }
}

async function keepWall(): Promise<void> {
  throw new Error('there is a wall')
}

/** Leaves out the tables that a restore adds rows to. */
export function sumsOf({ parts }: Manifest) {
  return parts
    .filter(({ table }) => table !== 'journal')
    .map(({ table, rows, sha256 }) => ({ table, rows, sha256 }))
}
