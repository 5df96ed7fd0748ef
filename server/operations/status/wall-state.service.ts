import { LRUCache } from 'lru-cache'
import * as calls from '../../../contract/moderation.ts'
import {
  type MailReputation,
  readMailReputation,
} from '../../features/site-state/mail-reputation.service.ts'
import { type Config, usesDataDir } from '../../kernel/config/config.ts'
import type { Db } from '../../kernel/db/database.ts'
import { whyFailed } from '../../kernel/errors/why-failed.ts'
import type { Limit } from '../../kernel/limits/limits.ts'
import { type MailHealth, readMailHealth } from '../../kernel/mail/mail-log.repository.ts'
import type { ServerContext } from '../../kernel/server-context.ts'
import { requireBackupFolder } from '../backup/backup-folder.ts'
import { type BackupState, selectBackupState } from '../backup/backup-state.repository.ts'
import { type DoctorContext, examineCheaply } from '../doctor/doctor.service.ts'
import { broken, type Finding, type Level } from '../doctor/finding.ts'

/** The lines of the state, and the doctor's checks behind each. */
const PARTS: [name: string, checks: string[]][] = [
  ['Почта', ['mails', 'refused mails']],
  ['Копии', ['backup', 'backup command']],
  ['Диск', ['disk', 'backup disk']],
  ['База данных', ['database', 'collation', 'connections', 'clock', 'jobs', 'counters']],
  ['Версия', ['versions', 'release', 'parts', 'nodes']],
]

export type StateLine = { name: string; level: Level; message: string; fix: string | null }

export type WallState = {
  lines: StateLine[]
  mails: MailHealth
  mailName: MailReputation
  backup: BackupState
}

/** Returns whether mail, backups, disk, database and version are well, in words and in numbers. */
export async function readWallState({ db, config }: DoctorContext): Promise<WallState> {
  const state = await selectBackupState(db)
  const { backupDir } = config
  const missing =
    backupDir && (await requireBackupFolder(backupDir).catch(({ message }) => message))
  return {
    lines: await readLines({ db, config }),
    mails: await readMailHealth(db),
    mailName: await readMailReputation(db),
    backup: missing ? { ...state, failed: missing.replace(/\.$/, '') } : state,
  }
}

async function readLines(context: DoctorContext): Promise<StateLine[]> {
  const { database, use } = await examineCheaply(context)
  const findings = [...database, ...use]
  return PARTS.flatMap(([name, checks]) => {
    const own = findings.filter(({ check }) => checks.includes(check))
    return own.length > 0 ? [lineOf(name, own, context.config)] : []
  })
}

const ORDER: Level[] = ['broken', 'warning', 'ok']

/** Names what is not well, or else what the first check has found. */
function lineOf(name: string, findings: Finding[], config: Config): StateLine {
  const [level = 'ok'] = ORDER.filter((one) => findings.some((finding) => finding.level === one))
  const faults = findings.filter((finding) => finding.level !== 'ok')
  const shown = faults.length > 0 ? faults : findings.slice(0, 1)
  const fixes = [...new Set(shown.flatMap(({ fix }) => fix ?? []))]
  return {
    ...{ name, level },
    message: withoutPaths(shown.map(({ message }) => message).join('; '), config),
    fix: fixes.length > 0 ? fixes.join('. ') : null,
  }
}

/** In the words for moderators, a folder has the name of its setting. */
function withoutPaths(message: string, config: Config): string {
  const { dataDir, backupDir } = config
  const named = backupDir ? message.replaceAll(backupDir, 'BACKUP_DIR') : message
  return usesDataDir(config) ? named.replaceAll(dataDir, 'DATA_DIR') : named
}

/** The checks read tables and the disk, so one reading serves all moderators for a while. */
const MAX_AGE_MS = 10_000
const READS: Limit = {
  name: 'wall-state',
  rates: [[60, 600]],
  refusal: 'Состояние читают слишком часто: снова через {time}',
}

/** Serves the state of the wall to moderators. */
export function registerWallState(context: ServerContext): void {
  const { route, background, config, limits } = context
  const states = new LRUCache<'now', StateLine[]>({
    max: 1,
    ttl: MAX_AGE_MS,
    fetchMethod: () => readOrExplain({ db: background, config }),
  })
  route(calls.readWallState, async ({ viewer: { userId } }) => {
    await limits.charge([{ limit: READS, key: userId }])
    return { lines: await states.forceFetch('now') }
  })
}

function readOrExplain(context: { db: Db; config: Config }): Promise<StateLine[]> {
  return readLines(context).catch((error) => {
    const {
      level,
      message,
      fix = null,
    } = broken(`не проверена: ${whyFailed(error)}`, 'Проверьте, отвечает ли она: vslukh doctor')
    return [{ name: 'База данных', level, message, fix }]
  })
}
