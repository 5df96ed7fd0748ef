import { freeBytes, LEAST_FREE_BYTES } from '../http/health.ts'
import { broken, type Finding, warning, well } from './finding.ts'

const MIB = 1024 * 1024
const LITTLE_BYTES = 1024 * MIB
const SOON_DAYS = 30

/** Returns how much is free on the disk with DATA_DIR, and when it will be full if the database grows on by `dailyBytes`. */
export async function checkDisk(folder: string, dailyBytes: number): Promise<Finding> {
  const mend = 'Освободите место или перенесите DATA_DIR на больший диск'
  const free = await freeBytes(folder).catch(() => undefined)
  if (free === undefined) {
    return broken('disk', `папка ${folder} не открывается`, 'Проверьте DATA_DIR и права на неё')
  }
  const days = dailyBytes > 0 ? Math.floor(free / dailyBytes) : Number.POSITIVE_INFINITY
  const until = Number.isFinite(days) ? `, при нынешнем росте хватит на ${days} дн.` : ''
  const says = `на диске с ${folder} свободно ${Math.floor(free / MIB)} МиБ${until}`
  if (free < LEAST_FREE_BYTES) return broken('disk', says, mend)
  if (free < LITTLE_BYTES || days < SOON_DAYS) return warning('disk', says, mend)
  return well('disk', says)
}
