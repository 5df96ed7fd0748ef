import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import {
  Folder,
  query,
} from '../../server/operations/embedded-postgres/embedded-postgres.fixture.ts'
import { isServed } from '../../server/operations/embedded-postgres/lock.ts'
import { asSuperuser } from '../../server/testing/database/databases.ts'
import { openPostgresProxy } from '../../server/testing/database/postgres-proxy.ts'
import { preventStart } from './embedded-database.ts'

const at = new Folder()

test('while a killed PostgreSQL cannot start, the reason is stated once; then it is back, still locked, at the same address', async () => {
  const postgres = await at.start()
  await query(postgres.connectionString, 'create table kept as select 1 as number')
  const pid = await at.pid()
  const release = await preventStart(at.dataDir)
  process.kill(pid, 'SIGKILL')
  const log = () => readFile(join(at.dataDir, 'postgres.log'), 'utf8')
  // More than the eight attempts of a start.
  const starts = async () => (await log()).split('no_such_setting').length - 1
  await expect.poll(starts, { timeout: 60_000 }).toBeGreaterThan(9)
  expect(postgres.lines.filter((line) => line.includes('no_such_setting'))).toHaveLength(1)
  await release()
  await postgres.recovered
  expect(await at.pid()).not.toBe(pid)
  expect(await query(postgres.connectionString, 'select number from kept')).toEqual([1])
  await expect(at.start()).rejects.toThrow('уже занята')
}, 90_000)

test('takes its lock again when only the connections died; a command does not wait for ever for a frozen one', async () => {
  const postgres = await at.start()
  const pid = await at.pid()
  const backend = `select pid from pg_stat_activity where application_name = '' and datname = 'postgres'`
  const [victim] = await query(postgres.connectionString, backend)
  process.kill(Number(victim), 'SIGKILL')
  await postgres.recovered
  expect(await at.pid()).toBe(pid)
  await expect(at.start()).rejects.toThrow('уже занята')
  process.kill(pid, 'SIGSTOP')
  expect(await isServed(postgres.connectionString)).toBe(false)
  process.kill(pid, 'SIGCONT')
  const proxy = await openPostgresProxy(postgres.connectionString, 'vslukh command')
  onTestFinished(proxy.close)
  void proxy.freezeAt(1)
  expect(await isServed(proxy.url)).toBe(false)
  await query(asSuperuser(postgres.connectionString), 'alter role vslukh connection limit 0')
  await expect(isServed(postgres.connectionString)).rejects.toMatchObject({ code: '53300' })
})

test.each([
  ['it brings PostgreSQL back', false],
  ['PostgreSQL stays down', true],
])('can be stopped while %s, and started again', async (_when, staysDown) => {
  const postgres = await at.start()
  const release = staysDown ? await preventStart(at.dataDir) : undefined
  process.kill(await at.pid(), 'SIGKILL')
  if (staysDown) await expect.poll(() => postgres.lines.join()).toContain('no_such_setting')
  await postgres.stop()
  await release?.()
  const next = await at.start()
  expect(await query(next.connectionString, 'select 1')).toEqual([1])
})
