import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { FastifyBaseLogger } from 'fastify'
import type { Db } from '../db/database.ts'
import {
  selectBackupState,
  storeBackup,
  storeBackupFailure,
  storeVerification,
} from './backup-state.repository.ts'
import { backupPath, createBackup } from './create-backup.service.ts'
import { verifyBackup } from './verify.service.ts'

/** A little under a week, so that the verification stays on its day of the week. */
const VERIFIED_DAYS = 6.5
const DAY_MS = 86_400_000
const NAME = /^vslukh-.*\.backup$/

type Options = {
  db: Db
  /** URL of the database. */
  url: string
  /** Where the backups are; created where it is missing. */
  folder: string
  /** How many of them are kept. */
  keep: number
  /** The app secret, which the backup contains. */
  secret: string
  log: Pick<FastifyBaseLogger, 'error' | 'info'>
}

/**
 * Makes the job that writes a backup into a folder, verifies one a week, and removes the oldest beyond `keep`. A failure is
 * stored and logged, and removes nothing; the next night tries again.
 */
export function createNightlyBackup(options: Options): () => Promise<void> {
  const { db, url, folder, keep, secret, log } = options
  return async () => {
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const file = await backupPath(folder)
      const { bytes } = await createBackup(url, file, { secret })
      if (isVerificationDue((await selectBackupState(db)).verifiedAt)) {
        await verifyBackup(file)
        await storeVerification(db)
      }
      await storeBackup(db, bytes)
      await removeOldest(folder, keep)
      log.info({ bytes }, 'the wall was backed up')
    } catch (err) {
      log.error({ err }, 'the nightly backup failed')
      await storeBackupFailure(db, (err as Error).message)
    }
  }
}

function isVerificationDue(verifiedAt: Date | null): boolean {
  return verifiedAt === null || Date.now() - verifiedAt.getTime() > VERIFIED_DAYS * DAY_MS
}

/** Removes the oldest nightly backups: their names sort by time. */
async function removeOldest(folder: string, keep: number): Promise<void> {
  const names = (await readdir(folder)).filter((name) => NAME.test(name)).sort()
  for (const name of names.slice(0, -keep)) await rm(join(folder, name))
}
