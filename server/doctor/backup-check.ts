import { broken, type Finding, warning, well } from './finding.ts'

/** What is known of backups. */
export type BackupState = {
  /** When the last one was written; null when there is none. */
  at: Date | null
  bytes: number
  /** Why the last try failed; null where it did not. */
  failed: string | null
  verifiedAt: Date | null
}

/** Reads that state; absent where nothing keeps it. */
export type ReadBackupState = () => Promise<BackupState>

const DAY_MS = 86_400_000
const OLDEST_DAYS = 2
const OLDEST_VERIFICATION_DAYS = 14

/** Whether there is a fresh backup, and whether one was verified lately. */
export function checkBackup(state: BackupState, now: Date): Finding {
  const days = (at: Date) => Math.floor((now.getTime() - at.getTime()) / DAY_MS)
  if (state.failed !== null) {
    return broken(
      'backup',
      `последняя копия не удалась: ${state.failed}`,
      'Сделайте её: vslukh backup',
    )
  }
  if (state.at === null) return warning('backup', 'копий нет', 'Сделайте первую: vslukh backup')
  const says = `последней копии ${days(state.at)} дн., ${Math.ceil(state.bytes / 1024 / 1024)} МиБ`
  if (days(state.at) > OLDEST_DAYS) return broken('backup', says, 'Сделайте новую: vslukh backup')
  if (state.verifiedAt === null || days(state.verifiedAt) > OLDEST_VERIFICATION_DAYS) {
    return warning('backup', `${says}, давно не проверялась`, 'Проверьте копию: vslukh verify')
  }
  return well('backup', `${says}, проверена`)
}
