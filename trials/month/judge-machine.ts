import { existsSync, readdirSync, readFileSync, statSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { DAY, HOUR } from './clock.ts'
import type { World } from './world.ts'

const NAME = /^vslukh-(.*T\d\d)-(\d\d)-(.*)\.backup$/
const YEAR_DAYS = 365

export function backupsOf({ wall }: World): string[] {
  return readdirSync(wall.backups)
    .filter((name) => NAME.test(name))
    .sort()
}

export function timeOfBackup(name: string): number {
  const [, hour, minute, rest] = NAME.exec(name) ?? []
  return Date.parse(`${hour}:${minute}:${rest}`)
}

/** Gives new backups the driver's time: the kernel's own is the real one. */
export function dateBackups(world: World): void {
  if (!existsSync(world.wall.backups)) return
  for (const name of backupsOf(world)) {
    const at = new Date(timeOfBackup(name))
    try {
      utimesSync(join(world.wall.backups, name), at, at)
    } catch {
      // It has just been removed.
    }
  }
}

type State = {
  at: Date | null
  failed: string | null
  verifiedAt: Date | null
  fault: string | null
  differences: number | null
}

/** Judges the backups, the nightly checks and the jobs. `mustHave` tells whether tonight had one. */
export async function judgeMachine(
  world: World,
  { keep, mustHave }: { keep: number; mustHave: boolean },
) {
  const { wall, findings, clock } = world
  const [state] = await wall.query<State>(`SELECT backup_at AS at, backup_failed AS failed,
    backup_verified_at AS "verifiedAt",
    backup_verification_failed AS fault, counter_differences AS differences FROM installation`)
  const { at, failed, verifiedAt, fault, differences } = state as State
  const now = clock.now()
  if (mustHave && (!at || now - Number(at) > 26 * HOUR))
    findings.add('there is no backup of this night', { at, failed })
  // The first verification may still run.
  const isVerified = backupsOf(world).length < 2 || Number(verifiedAt) > now - 8.5 * DAY
  if (mustHave && !isVerified) findings.add('no backup was verified for eight days', { verifiedAt })
  if (fault) findings.add('the verification of a backup failed', { fault })
  if (differences) findings.add('the nightly check found differences', { differences })
  judgeKept(world, keep)
  await judgeJobs(world)
  judgeDeletions(world)
  const [sizes] = await wall.query(
    `SELECT pg_database_size(current_database())::float8 / 1e6 AS mb`,
  )
  const log = statSync(wall.log).size
  return {
    ...wall.size(),
    databaseMb: Math.round(Number(sizes?.mb) * 10) / 10,
    logKb: Math.round(log / 1024),
  }
}

/** BACKUP_KEEP keeps the newest, and the one that had been verified last when the night began. */
function judgeKept(world: World, keep: number): void {
  const names = backupsOf(world)
  if (names.length > keep + 1) world.findings.add('old backups were not removed', { names, keep })
}

async function judgeJobs({ wall, findings }: World): Promise<void> {
  // graphile-worker lets a running job use up its attempts when another comes in its place.
  const late =
    await wall.query(`SELECT task_identifier AS task, run_at, now(), attempts, last_error FROM graphile_worker.jobs
    WHERE locked_at IS NULL AND (run_at < now() - interval '2 hours' OR attempts > 10)`)
  if (late.length > 0) findings.add('jobs wait or fail', { late: late.slice(0, 5) })
  const failing = await wall.query('SELECT task, failures FROM failing_tasks WHERE failures > 3')
  if (failing.length > 0) findings.add('tasks fail again and again', { failing })
  const ahead =
    await wall.query(`SELECT id FROM posts WHERE created_at > now() + interval '5 minutes'
    UNION ALL SELECT user_id FROM sessions WHERE used_at > now() + interval '5 minutes'`)
  if (ahead.length > 0) findings.add('times are ahead of the clock', { rows: ahead.length })
}

/** The list of deletions goes back a year, or to the oldest backup. */
function judgeDeletions(world: World): void {
  const { wall, findings, clock, slackHours } = world
  const [oldest = ''] = backupsOf(world)
  const yearAgo = clock.now() - YEAR_DAYS * DAY
  const since = Math.min(yearAgo, timeOfBackup(oldest) || yearAgo) - slackHours * HOUR
  for (const folder of [wall.data, wall.backups]) {
    const path = join(folder, 'deletions.jsonl')
    const content = existsSync(path) ? readFileSync(path, 'utf8') : ''
    const times = [...content.matchAll(/"notedAt":"([^"]+)"/g)].map(([, at = '']) => Date.parse(at))
    if (times.some((time) => time < since))
      findings.add('the list of deletions keeps old lines', { path })
  }
}
