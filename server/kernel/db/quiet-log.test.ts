import { expect, inject, onTestFinished, test } from 'vitest'
import { closeAfterTest } from '../../testing/close-after-test.ts'
import { openPostgresProxy } from '../../testing/database/postgres-proxy.ts'
import { Outage } from './outage.ts'
import { quietDuringOutages } from './quiet-log.ts'

const LOST = new Error('Connection terminated unexpectedly')

/** Returns a log whose database is cut off, and the facts and messages that it has logged. */
async function openLog() {
  const proxy = await openPostgresProxy(inject('databaseUrl'))
  onTestFinished(proxy.close)
  proxy.cut()
  const lines: [facts: object, message: string][] = []
  const note = (facts: object, message: string) => void lines.push([facts, message])
  const log = { debug: note, info: note, warn: note, error: note }
  const outage = new Outage({ url: proxy.url, log: { error() {}, warn() {} } })
  return { log: quietDuringOutages(log, closeAfterTest(outage)), lines }
}

test('errors of a lost database are left out, and during an outage those without a cause', async () => {
  const { log, lines } = await openLog()
  log.warn({ err: LOST }, 'the queue broke off')
  log.error({ err: LOST }, 'a job failed')
  log.error({}, 'the runner ended')
  log.info({}, 'a job ended')
  expect(lines.map(([, message]) => message)).toEqual(['a job ended'])
})

test('another error is logged, with its stack unless the database could not serve', async () => {
  const { log, lines } = await openLog()
  const own = new Error('A fault of the job')
  const late = Object.assign(new Error('canceling statement'), { code: '57014' })
  log.error({ err: own }, 'a job failed')
  log.warn({ err: late }, 'a job failed')
  log.error({}, 'the runner ended')
  expect(lines).toEqual([
    [{ err: own }, 'a job failed'],
    [{ reason: 'canceling statement' }, 'a job failed'],
    [{ err: undefined }, 'the runner ended'],
  ])
})
