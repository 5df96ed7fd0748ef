import { join } from 'node:path'
import type { FastifyBaseLogger } from 'fastify'
import type { Config } from '../../kernel/config/config.ts'
import type { Db } from '../../kernel/db/database.ts'
import { whileDiskAnswers } from '../../kernel/disk/disk.ts'
import type { Ending, Jobs } from '../../kernel/queue/queue.ts'
import { readPostgresMajor } from '../start/installation.ts'
import { explainStartFailure } from '../start/start-failure.ts'
import { runBackupCommand } from './backup-command.ts'
import { readManifest } from './backup-file.ts'
import { backupName, makeBackupFolder, removeLeftovers, removeOldest } from './backup-folder.ts'
import {
  type BackupTime,
  isBackupTime,
  selectBackupState,
  storeBackup,
  storeBackupFailure,
  storeVerification,
  storeVerificationFailure,
} from './backup-state.repository.ts'
import { createBackup } from './create-backup.service.ts'
import { logProgress } from './progress.ts'
import { verificationFolders, verifyBackup } from './verify.service.ts'

/** The days between verifications: less than a week, so that the weekday stays the same. */
const VERIFIED_DAYS = 6.5
const DAY_MS = 86_400_000

type Options = {
  db: Db
  url: string
  folder: string
  dataDir: string
  keep: number
  command: Config['backupCommand']
  commandMs?: number
  secret: string
  log: Pick<FastifyBaseLogger, 'error' | 'info'>
}

/** Returns the job of each night. Nodes with other times than the stored one queue runs in vain. */
export function backupJobs({ hour, minute }: BackupTime, options: Options): Jobs {
  const backUp = createNightlyBackup(options)
  return {
    'back-up': {
      cron: `${minute} ${hour} * * *`,
      lateByMs: DAY_MS,
      async run(ending, dueAt) {
        if (dueAt && !(await isBackupTime(options.db, dueAt))) {
          options.log.info({ dueAt }, 'no backup: the node that started last has another BACKUP_AT')
          return
        }
        await backUp(ending)
      },
    },
  }
}

/**
 * Returns the job that makes a backup, removes the oldest, runs BACKUP_COMMAND, and verifies
 * weekly. It stores and logs failures, but rejects if the process ends, so that the next start
 * repeats it.
 */
export function createNightlyBackup(options: Options) {
  const { db, folder, keep, command, commandMs: withinMs, secret, log } = options
  const isOwn = (path: string) => isBackupOf(secret, path)
  return async ({ signal }: Pick<Ending, 'signal'>): Promise<void> => {
    const failureOf = async (work: Promise<void> | undefined, name: string) => {
      try {
        await work
        return null
      } catch (err) {
        signal.throwIfAborted()
        log.error({ err }, `${name} failed`)
        return sentenceOf(err)
      }
    }
    const now = new Date()
    const file = join(folder, backupName(now))
    const failure = await failureOf(write(options, { file, now, signal }), 'the nightly backup')
    if (failure !== null) return storeBackupFailure(db, failure)
    const { verifiedAt, verifiedCopy, verificationFailed } = await selectBackupState(db)
    const kept = { keep, made: file, verifiedCopy, isOwn }
    await removeOldest(folder, kept).catch(logUnremoved(log))
    const running = command && runBackupCommand(command, file, { signal, withinMs })
    await storeBackupFailure(db, await failureOf(running, 'BACKUP_COMMAND'))
    if (verificationFailed === null && !isVerificationDue(verifiedAt)) return
    const check = (either: AbortSignal) => verify(options, file, either)
    const verifying = whileDiskAnswers(folder, check, { signal })
    const fault = await failureOf(verifying, 'the verification of the nightly backup')
    if (fault !== null) await storeVerificationFailure(db, fault)
  }
}

/** Returns whether a backup is of the wall with this secret; false if that cannot be known. */
async function isBackupOf(secret: string, path: string): Promise<boolean> {
  const manifest = await readManifest(path, { isSummed: false }).catch(() => undefined)
  return manifest?.secret === secret
}

function logUnremoved(log: Options['log']) {
  return (err: unknown) => log.error({ err }, 'old backups were not removed')
}

async function write(
  { db, url, folder, dataDir, secret, log }: Options,
  { file, now, signal }: { file: string; now: Date; signal: AbortSignal },
): Promise<void> {
  await makeBackupFolder(folder, dataDir)
  // Comes before the backup, because leftovers may have filled the disk.
  for (const parent of verificationFolders(folder, dataDir))
    await removeLeftovers(parent).catch(logUnremoved(log))
  const { bytes, manifest } = await createBackup(url, file, {
    ...{ secret, now, signal },
    onProgress: logProgress(log, 'the backup goes on'),
  })
  await storeBackup(db, { ...manifest, bytes })
  log.info({ bytes }, 'the wall was backed up')
}

async function verify({ db, log }: Options, file: string, signal: AbortSignal): Promise<void> {
  const major = await readPostgresMajor(db)
  const { manifest, fingerprint } = await verifyBackup(file, {
    ...{ major, signal },
    onProgress: logProgress(log, 'the verification goes on'),
  })
  await storeVerification(db, { ...manifest, fingerprint })
}

function sentenceOf(error: unknown): string {
  const [line = ''] = explainStartFailure(error).split('\n')
  return line.replace(/\.$/, '')
}

function isVerificationDue(verifiedAt: Date | null): boolean {
  return verifiedAt === null || Date.now() - verifiedAt.getTime() > VERIFIED_DAYS * DAY_MS
}
