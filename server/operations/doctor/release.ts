import { join } from 'node:path'
import { formatDate } from '../../../contract/dates.ts'
import { readIfExists } from '../../kernel/config/read-if-exists.ts'
import { productVersion } from '../../kernel/db/migrate.ts'
import { type CheckResult, ok, warning } from './finding.ts'
import { isOld } from './parts.ts'

const ROOT = join(import.meta.dirname, '../../..')
/** After so many days there is probably a newer release, or a newer part that none has yet. */
const OLD_DAYS = 90

export type Release = {
  version: string
  /** The day of its last commit, such as 2026-11-30; undefined in a checkout. */
  day: string | undefined
  /** Where releases are published; undefined if this one was not made by a workflow. */
  url: string | undefined
}

/** Reads what `npm run release` has written into the release that runs, or into another folder. */
export async function readOwnRelease(root = ROOT): Promise<Release> {
  const [day, repository] = await Promise.all(
    ['released', 'repository'].map(async (name) => (await readIfExists(join(root, name)))?.trim()),
  )
  const url = repository ? `https://github.com/${repository}/releases` : undefined
  return { version: productVersion(), day, url }
}

/** Says when the release is old. Nothing is asked over the network: an operator looks. */
export function checkRelease({ version, day, url }: Release, now = new Date()): CheckResult {
  if (day === undefined) return ok(`версия ${version} запущена не из выпуска`)
  const message = `версия ${version} выпущена ${formatDate(new Date(day))}`
  const where = url ?? 'там, откуда вы взяли эту, или соберите её: docs/upgrading.md'
  if (!isOld(OLD_DAYS, day, now)) return ok(message)
  return warning(`${message}, больше ${OLD_DAYS} дней назад`, `Посмотрите, нет ли новой: ${where}`)
}
