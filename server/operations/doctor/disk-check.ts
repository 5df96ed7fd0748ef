import { stat } from 'node:fs/promises'
import { runOnDisk } from '../../kernel/disk/disk.ts'
import { whyFailed } from '../../kernel/errors/why-failed.ts'
import { formatSize } from '../../kernel/errors/words.ts'
import { freeBytes, LEAST_FREE_BYTES } from '../../kernel/http/health.ts'
import { broken, type CheckResult, ok, warning } from './finding.ts'

const LITTLE_BYTES = 1024 ** 3
const SOON_DAYS = 30

/** Checks the backups' disk. Returns undefined if there is no folder, or it is DATA_DIR's disk. */
export async function checkBackupDisk(
  folder: string,
  checked: string | undefined,
): Promise<CheckResult | undefined> {
  const device = await deviceOf(folder)
  if (device === undefined) return undefined
  if (checked !== undefined && device === (await deviceOf(checked))) return undefined
  return checkDisk(folder, 0, 'BACKUP_DIR')
}

async function deviceOf(folder: string): Promise<number | undefined> {
  return (await runOnDisk(folder, () => stat(folder)).catch(() => undefined))?.dev
}

/** Checks the free space, and for how long it lasts if the database grows by `dailyBytes`. */
export async function checkDisk(
  folder: string,
  dailyBytes: number,
  setting = 'DATA_DIR',
): Promise<CheckResult> {
  const fix = `Освободите место или перенесите ${setting} на больший диск`
  const free = await runOnDisk(folder, () => freeBytes(folder)).catch((error: Error) => error)
  if (free instanceof Error) {
    return broken(`папка ${folder} не открывается: ${whyFailed(free)}`, `Проверьте ${setting}`)
  }
  const days = dailyBytes > 0 ? Math.floor(free / dailyBytes) : Number.POSITIVE_INFINITY
  const until = Number.isFinite(days) ? `, при нынешнем росте хватит на ${days} дн.` : ''
  const message = `на диске с ${folder} свободно ${formatSize(free)}${until}`
  if (free < LEAST_FREE_BYTES) return broken(message, fix)
  if (free < LITTLE_BYTES || days < SOON_DAYS) return warning(message, fix)
  return ok(message)
}
