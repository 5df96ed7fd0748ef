import { join } from 'node:path'
import { isKnownMigration } from '../../kernel/db/migrate.ts'
import { whyFailed } from '../../kernel/errors/why-failed.ts'
import { formatOperatorTime, formatSize } from '../../kernel/errors/words.ts'
import { readManifest } from '../backup/backup-file.ts'
import { BackupError, backupName, newestBackup } from '../backup/backup-folder.ts'
import type { BackupState } from '../backup/backup-state.repository.ts'
import { broken, type CheckResult, ok, warning } from './finding.ts'

type CheckedState = Omit<BackupState, 'verifiedCopy' | 'commandFailed' | 'since'> &
  Partial<Pick<BackupState, 'since'>>

const DAY_MS = 86_400_000
const OLDEST_DAYS = 2
const OLDEST_VERIFICATION_DAYS = 14

/** Checks the files in the folder too, because files that the database remembers may be gone. */
export async function checkBackups(
  state: CheckedState,
  folder: string | undefined,
): Promise<CheckResult> {
  if (folder === undefined) return checkBackup(state, new Date())
  const command = `vslukh backup ${folder}`
  const make = `Сделайте копию: ${command}`
  try {
    const newest = await newestBackup(folder)
    const isLast = newest && state.at && newest.name === backupName(state.at)
    if (isLast && newest.bytes !== state.bytes) {
      const message = `файл ${newest.name} изменён: в нём ${newest.bytes} байт, а записано ${state.bytes}`
      return broken(message, make)
    }
    if (newest) {
      const read = await readTime(join(folder, newest.name))
      if (typeof read === 'string') return broken(read.replace(/\.$/, ''), make)
      return checkBackup({ ...state, bytes: newest.bytes, at: read }, new Date(), command)
    }
    if (state.at === null) return checkBackup(state, new Date(), command)
    return broken(`в папке ${folder} нет ни одной копии`, make)
  } catch (error) {
    const message = `папка копий ${folder} не открывается: ${whyFailed(error)}`
    return broken(message, 'Подключите её диск или создайте её и проверьте BACKUP_DIR')
  }
}

/** Returns when a backup was made, by its manifest, or why this version cannot restore it. */
async function readTime(file: string): Promise<Date | string> {
  const manifest = await readManifest(file, { isSummed: false }).catch((error: Error) => error)
  if (manifest instanceof BackupError) return manifest.message
  if (manifest instanceof Error) throw manifest
  if (!isKnownMigration(manifest.migration)) {
    return `эту версию копии (${manifest.version}, ${file}) здесь не восстановить`
  }
  const at = new Date(manifest.createdAt)
  if (at.getTime() < Date.now() + DAY_MS) return at
  return `дата копии ${file} в будущем: ${formatOperatorTime(at)}`
}

export function checkBackup(
  state: CheckedState,
  now: Date,
  command = 'vslukh backup',
): CheckResult {
  const days = (at: Date) => Math.floor((now.getTime() - at.getTime()) / DAY_MS)
  if (state.failed !== null) {
    return broken(`последняя копия не удалась: ${state.failed}`, `Сделайте её: ${command}`)
  }
  if (state.verificationFailed !== null) {
    return broken(
      `последняя копия не прошла проверку: ${state.verificationFailed}`,
      `Сделайте новую и проверьте её: ${command}, vslukh verify`,
    )
  }
  if (state.at === null) return warning('копий нет', `Сделайте первую: ${command}`)
  const message = `последняя копия сделана ${daysAgo(days(state.at))}, ${formatSize(state.bytes)}`
  if (days(state.at) > OLDEST_DAYS) return broken(message, `Сделайте новую: ${command}`)
  const { verifiedAt, since = null } = state
  const unverifiedSince = verifiedAt ?? since
  if (unverifiedSince === null || days(unverifiedSince) > OLDEST_VERIFICATION_DAYS) {
    return warning(
      `${message}, копии давно не проверялись`,
      'Проверьте последнюю копию: vslukh verify',
    )
  }
  const verified = verifiedAt ? 'копии проверяются' : 'первая проверка копий впереди'
  return ok(`${message}, ${verified}`)
}

export function checkBackupCommand({
  commandFailed,
}: Pick<BackupState, 'commandFailed'>): CheckResult {
  if (commandFailed === null) return ok('BACKUP_COMMAND выполняется')
  return broken(
    `последняя копия осталась только здесь, ${commandFailed}`,
    'Запустите команду от пользователя сервера и исправьте: docs/operations.md, «Elsewhere». Ночью она выполнится снова',
  )
}

function daysAgo(days: number): string {
  if (days < 1) return 'сегодня'
  return days === 1 ? 'вчера' : `${days} дн. назад`
}
