import { expect, onTestFinished, test } from 'vitest'
import { clientForTest, openDatabaseForTest } from '../../testing/database/database-for-test.ts'
import { executeOn, setReadOnly } from '../../testing/database/databases.ts'
import { isDatabaseUnavailable, isReadOnly } from '../db/database-errors.ts'
import { type Jobs, startJobs } from './queue.ts'
import { Workers } from './workers.ts'

const WORKERS = 6

type Started = Awaited<ReturnType<typeof openDatabaseForTest>>
type Log = Parameters<typeof startJobs>[1]['log']

function start({ pool, url }: Pick<Started, 'pool' | 'url'>, jobs: Jobs, log: Log) {
  const workers = new Workers(url, { warn() {}, debug() {} })
  return startJobs(pool, { jobs, log, workers, concurrency: WORKERS })
}

test('when the database turns read-only while a job runs, one line has that error, and no line an error that is not known as an outage; jobs run again once it is writable', async () => {
  const { pool, url } = await openDatabaseForTest()
  const lines: { message: string; err: Error | undefined }[] = []
  let spawned = 0
  const log = {
    error: ({ err }: { err?: Error }, message: string) => lines.push({ message, err }),
    debug: (_: object, message: string) => message === 'Spawned' && spawned++,
  }
  const { promise: end, resolve } = Promise.withResolvers<void>()
  let runs = 0
  const held = {
    run() {
      runs++
      return end
    },
  }
  const { stop } = await start({ pool, url }, { held }, log)
  onTestFinished(stop)
  const queue = () => executeOn(url, `SELECT graphile_worker.add_job('held')`)
  await queue()
  await expect.poll(() => runs).toBe(1)
  await setReadOnly(url, true)
  resolve()
  await expect.poll(() => spawned).toBe(4 * WORKERS)
  // A query that was running as the connections ended fails otherwise, and has a line of its own.
  const stops = lines.filter(({ message }) => message.startsWith('jobs stopped'))
  expect(stops.filter(({ err }) => err && isReadOnly(err))).toHaveLength(1)
  await setReadOnly(url, false)
  await queue()
  await expect.poll(() => runs).toBe(2)
  expect(lines.filter(({ err }) => !err || !isDatabaseUnavailable(err))).toEqual([])
})

test('jobs that are stopped while they start again end', async () => {
  const { pool, url } = await openDatabaseForTest()
  const { promise: failed, resolve: error } = Promise.withResolvers<void>()
  await executeOn(url, 'ALTER TABLE graphile_worker._private_tasks RENAME TO away')
  const log = { error: () => error(), debug() {} }
  const { stop } = await start({ pool, url }, { prompt: { async run() {} } }, log)
  await failed
  const client = await clientForTest(url)
  await client.query(`BEGIN; LOCK TABLE graphile_worker.migrations;
    ALTER TABLE graphile_worker.away RENAME TO _private_tasks`)
  const waiting = () => executeOn(url, 'SELECT FROM pg_locks WHERE NOT granted')
  await expect.poll(waiting).not.toEqual([])
  const stopped = stop()
  await client.query('COMMIT')
  await stopped
})
