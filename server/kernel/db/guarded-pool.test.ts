import { expect, inject, onTestFinished, test } from 'vitest'
import { closeAfterTest } from '../../testing/close-after-test.ts'
import { openPostgresProxy } from '../../testing/database/postgres-proxy.ts'
import { GuardedPool } from './guarded-pool.ts'
import { Outage } from './outage.ts'

const log = { error() {}, warn() {} }

/** Opens a pool whose database is away. */
async function openWhileAway({ waits }: { waits: boolean }) {
  const proxy = await openPostgresProxy(inject('databaseUrl'))
  onTestFinished(proxy.close)
  const outage = closeAfterTest(new Outage({ url: proxy.url, log }))
  const pool = new GuardedPool({ connectionString: proxy.url }, outage, waits)
  onTestFinished(() => pool.end())
  proxy.cut()
  outage.suspect(new Error('Connection terminated unexpectedly'))
  await expect.poll(() => outage.isAway()).toBe(true)
  return { proxy, outage, pool }
}

test('while the database is away, a connection is refused at once; once it is back, one is opened', async () => {
  const { proxy, outage, pool } = await openWhileAway({ waits: false })
  await expect(pool.query('SELECT 1')).rejects.toMatchObject({ code: '08001' })
  proxy.repair()
  await outage.whenWritable()
  expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
})

test('a pool that waits opens its connection once the database is back', async () => {
  const { proxy, pool } = await openWhileAway({ waits: true })
  const query = pool.query('SELECT 1 AS one')
  proxy.repair()
  expect((await query).rows).toEqual([{ one: 1 }])
})

test('a connection that cannot be opened makes an outage suspected', async () => {
  const { proxy, outage, pool } = await openWhileAway({ waits: false })
  proxy.repair()
  await outage.whenWritable()
  proxy.cut()
  await expect(pool.query('SELECT 1')).rejects.toThrow()
  expect(outage.isSuspected()).toBe(true)
})

test('a pool that waits refuses once the watch has ended', async () => {
  const { outage, pool } = await openWhileAway({ waits: true })
  const query = pool.query('SELECT 1')
  outage.close()
  await expect(query).rejects.toMatchObject({ code: '08001' })
})
