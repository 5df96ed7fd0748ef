import { join } from 'node:path'
import { expect } from 'vitest'
import { runHere } from '../../server/testing/process/run-command.ts'
import { ROOT } from '../operations/deploy-file.ts'
import { failEach, type State, type Trial } from './fail-each.ts'
import { strace } from './traced-run.ts'

const RELEASES = join(ROOT, 'server/operations/backup/releases')
export const BACKUP = join(RELEASES, '1.0.0.fixture.backup')
export const IN_ALL = { timeout: 7_200_000 }

/** The names on a disk with a backup, and a wall with the embedded database in the folder `data`. */
export const WALL_FILES =
  /^x\.backup$|^data$|^data\/(postgres|postgres\.log|READ-ME\.txt|app-secret)$|^data\/postgres\//

export const either = (isNew: boolean): State => (isNew ? 'new' : 'old')

export async function expectRight(trial: Trial, fail = failEach) {
  if (!strace) throw new Error('strace is not there (Debian: strace), or may not trace')
  const { runs, faults } = await fail(trial)
  expect(faults.join('\n')).toBe('')
  expect(runs).toBeGreaterThan(0)
}

/** Returns the numbers of a wall; undefined if there is none yet, or one of an older version, or its restore was killed. */
export async function wallIn(env: Record<string, string>): Promise<string | undefined> {
  const { code, out, err } = await runHere(env, ['status', '--json'])
  if (/нет базы данных|в ней ещё|не закончено восстановление/.test(out + err)) return undefined
  expect(code, out + err).toBe(0)
  const { users, posts, sessions } = JSON.parse(out)
  return `${users} ${posts} ${sessions}`
}
