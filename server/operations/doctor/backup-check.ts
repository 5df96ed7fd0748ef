import { join } from 'node:path'
import { isKnownMigration } from '../../kernel/db/migrate.ts'
import { whyFailed } from '../../kernel/errors/why-failed.ts'
import { formatOperatorTime, formatSize } from '../../kernel/errors/words.ts'
import { readManifest } from '../backup/backup-file.ts'
import { BackupError, backupName, newestBackups, sizeOfBackup } from '../backup/backup-folder.ts'
import type { BackupState } from '../backup/backup-state.repository.ts'
import type { Manifest } from '../backup/manifest.ts'
import { broken, type CheckResult, ok, warning } from './finding.ts'

type CheckedState = Omit<BackupState, 'verifiedCopy' | 'commandFailed' | 'since'> &
  Partial<Pick<BackupState, 'since'>>

const DAY_MS = 86_400_000
const OLDEST_DAYS = 2
const OLDEST_VERIFICATION_DAYS = 14

type Folder = {
  folder: string | undefined
  /** The wall's secret, which its backups have: others may leave theirs in the same folder. */
  secret: string | undefined
}

/** Checks the files in the folder too, because files that the database remembers may be gone. */
export async function checkBackups(
  state: CheckedState,
  { folder, secret }: Folder,
): Promise<CheckResult> {
  if (folder === undefined) return checkBackup(state, new Date())
  const command = `vslukh backup ${folder}`
  const make = `Сделайте копию: ${command}`
  const last = state.at && backupName(state.at)
  try {
    for (const name of await newestBackups(folder)) {
      const bytes = await sizeOfBackup(folder, name)
      if (name === last && bytes !== state.bytes) {
        const message = `файл ${name} изменён: в нём ${bytes} байт, а записано ${state.bytes}`
        return broken(message, make)
      }
      const manifest = await readDescription(join(folder, name))
      if (manifest instanceof BackupError) return broken(withoutDot(manifest.message), make)
      if (name !== last && secret !== undefined && manifest.secret !== secret) continue
      const at = timeOf(manifest, join(folder, name))
      if (typeof at === 'string') return broken(at, make)
      return checkBackup({ ...state, bytes, at }, new Date(), command)
    }
    if (state.at === null) return checkBackup(state, new Date(), command)
    return broken(`в папке ${folder} нет ни одной копии этой стены`, make)
  } catch (error) {
    const message = `папка копий ${folder} не открывается: ${whyFailed(error)}`
    return broken(message, 'Подключите её диск или создайте её и проверьте BACKUP_DIR')
  }
}

const withoutDot = (sentence: string) => sentence.replace(/\.$/, '')

/** Returns the manifest of a backup, or why it cannot be read. */
function readDescription(file: string): Promise<Manifest | BackupError> {
  return readManifest(file, { isSummed: false }).catch((error) => {
    if (error instanceof BackupError) return error
    throw error
  })
}

/** Returns when a backup was made, or why this version cannot restore it. */
function timeOf({ createdAt, migration, version }: Manifest, file: string): Date | string {
  if (!isKnownMigration(migration)) {
    return `эту версию копии (${version}, ${file}) здесь не восстановить`
  }
  const at = new Date(createdAt)
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
