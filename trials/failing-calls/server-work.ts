// Does one piece of the server's work with files, and ends. Argument: its name.
import '../../server/operations/start/caller-folder.ts'
import { join } from 'node:path'
import {
  addToDeletionList,
  pruneDeletions,
} from '../../server/features/account-deletion/deletion-list.service.ts'
import { openDatabase } from '../../server/kernel/db/database.ts'
import { openMailTransport } from '../../server/kernel/mail/transport.ts'
import { selectBackupState } from '../../server/operations/backup/backup-state.repository.ts'
import { createNightlyBackup } from '../../server/operations/backup/nightly-backup.task.ts'
import { sentenceOfFailure } from '../../server/operations/start/start-failure.ts'

const { DATA_DIR: dataDir = '', DATABASE_URL: url = '' } = process.env
const registeredAt = '2026-01-01T00:00:00.000000Z'

const WORK: Record<string, () => Promise<string | null>> = {
  async mail() {
    const wall = { appName: 'Вслух', mailFrom: 'no-reply@vsluh.example', smtpUrl: undefined }
    const settings = { ...wall, dataDir, publicUrl: undefined, dkim: undefined }
    const transport = await openMailTransport(settings, () => {})
    await transport.send({ to: 'olga@example.org', subject: '012345 — код', text: 'Код: 012345' })
    return null
  },
  async 'note deletions'() {
    let failure: string | null = null
    const onFailure = (cause: Error) => {
      failure = sentenceOfFailure(cause)
    }
    const deleted = { id: '7', registeredAt, deletedAt: new Date().toISOString() }
    await addToDeletionList([deleted], [dataDir], {
      onFailure: (cause) => onFailure(cause as Error),
    })
    return failure
  },
  async 'prune deletions'() {
    await pruneDeletions([dataDir], new Date('2026-02-15T00:00:00.000Z'))
    return null
  },
  async 'nightly backup'() {
    await using db = openDatabase(url, () => {}).db
    const folder = join(dataDir, 'backups')
    const job = createNightlyBackup({
      ...{ db, url, folder, dataDir, keep: 2, command: undefined, secret: 's'.repeat(40) },
      log: { error() {}, info() {} },
    })
    await job({ signal: new AbortController().signal })
    const { failed, verificationFailed } = await selectBackupState(db)
    return failed ?? verificationFailed
  },
}

const failure = await WORK[process.argv[2] ?? '']?.().catch(sentenceOfFailure)
if (failure) process.stderr.write(`${failure}\n`)
process.exitCode = failure ? 1 : 0
