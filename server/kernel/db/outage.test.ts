import { expect, inject, onTestFinished, test } from 'vitest'
import { closeAfterTest } from '../../testing/close-after-test.ts'
import { databaseForTest } from '../../testing/database/database-for-test.ts'
import { setReadOnly } from '../../testing/database/databases.ts'
import { openPostgresProxy } from '../../testing/database/postgres-proxy.ts'
import { Outage } from './outage.ts'

const LOST = new Error('Connection terminated unexpectedly')
const READ_ONLY = Object.assign(new Error('cannot execute INSERT'), { code: '25006' })

/** Watches a database. `logged` are the messages of its log. */
function watch(url: string) {
  const logged: string[] = []
  const note = (_facts: object, message: string) => void logged.push(message)
  const outage = closeAfterTest(new Outage({ url, log: { error: note, warn: note } }))
  return { outage, logged }
}

async function openProxy() {
  const proxy = await openPostgresProxy(inject('databaseUrl'))
  onTestFinished(proxy.close)
  return proxy
}

test('after a lost connection the breaker is open until the database answers; one line logs each change', async () => {
  const proxy = await openProxy()
  const { outage, logged } = watch(proxy.url)
  proxy.cut()
  expect(outage.reportFailure(LOST)).toBe(true)
  await expect.poll(() => outage.isAway()).toBe(true)
  outage.reportFailure(LOST)
  proxy.repair()
  await outage.whenWritable()
  expect([outage.isAway(), outage.isSuspected()]).toEqual([false, false])
  expect(logged).toEqual(['the database is away', 'the database is back'])
})

test('a read-only database can be read at once, and is written to once it is writable', async () => {
  const url = await databaseForTest()
  await setReadOnly(url, true)
  const { outage } = watch(url)
  outage.reportFailure(READ_ONLY)
  await outage.whenReadable()
  expect([outage.isAway(), outage.isSuspected()]).toEqual([false, true])
  const writable = outage.whenWritable()
  await setReadOnly(url, false)
  await writable
  expect(outage.isSuspected()).toBe(false)
})

test('an error of a statement is no outage', () => {
  const { outage } = watch(inject('databaseUrl'))
  const error = Object.assign(new Error('syntax error'), { code: '42601' })
  expect(outage.reportFailure(error)).toBe(false)
  expect(outage.isSuspected()).toBe(false)
})

test('the end of the watch ends every wait', async () => {
  const proxy = await openProxy()
  const { outage } = watch(proxy.url)
  proxy.cut()
  outage.reportFailure(LOST)
  const waits = Promise.all([outage.whenReadable(), outage.whenWritable()])
  outage.close()
  expect(await waits).toHaveLength(2)
})
