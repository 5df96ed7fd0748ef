import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  Folder,
  query,
} from '../../server/operations/embedded-postgres/embedded-postgres.fixture.ts'

const at = new Folder()

test('brings a killed PostgreSQL back, still locked, at the same address', async () => {
  const postgres = await at.start()
  await query(postgres.connectionString, 'create table kept as select 1 as number')
  const pid = await at.pid()
  process.kill(pid, 'SIGKILL')
  await postgres.recovered
  expect(await at.pid()).not.toBe(pid)
  expect(await query(postgres.connectionString, 'select number from kept')).toEqual([1])
  await expect(at.start()).rejects.toThrow('уже занята')
  expect(postgres.lost).toEqual([])
})

test('takes its lock again when only the connections died', async () => {
  const postgres = await at.start()
  const pid = await at.pid()
  const backend = `select pid from pg_stat_activity where application_name = '' and datname = 'postgres'`
  const [victim] = await query(postgres.connectionString, backend)
  process.kill(Number(victim), 'SIGKILL')
  await postgres.recovered
  expect(await at.pid()).toBe(pid)
  await expect(at.start()).rejects.toThrow('уже занята')
})

test('retries while PostgreSQL stays down, states the reason once, and serves when the cause is gone', async () => {
  const postgres = await at.start()
  const conf = join(at.dataDir, 'postgres', 'postgresql.auto.conf')
  const before = await readFile(conf)
  await writeFile(conf, 'no_such_setting = 1\n')
  process.kill(await at.pid(), 'SIGKILL')
  // More than the eight attempts of a start.
  await expect.poll(() => countStarts(at.dataDir), { timeout: 60_000 }).toBeGreaterThan(9)
  expect(postgres.lines.filter((line) => line.includes('no_such_setting'))).toHaveLength(1)
  await writeFile(conf, before)
  await postgres.recovered
  expect(await query(postgres.connectionString, 'select 1')).toEqual([1])
  expect(postgres.lost).toEqual([])
}, 90_000)

test('can be stopped while PostgreSQL stays down', async () => {
  const postgres = await at.start()
  await writeFile(join(at.dataDir, 'postgres', 'postgresql.auto.conf'), 'no_such_setting = 1\n')
  process.kill(await at.pid(), 'SIGKILL')
  await expect.poll(() => postgres.lines.join()).toContain('no_such_setting')
  await postgres.stop()
  expect(postgres.lost).toEqual([])
})

test('can be stopped while it brings PostgreSQL back', async () => {
  const postgres = await at.start()
  process.kill(await at.pid(), 'SIGKILL')
  await postgres.stop()
  const next = await at.start()
  expect(await query(next.connectionString, 'select 1')).toEqual([1])
})

/** Returns how often PostgreSQL has refused its settings so far. */
async function countStarts(dataDir: string): Promise<number> {
  const log = await readFile(join(dataDir, 'postgres.log'), 'utf8')
  return log.split('no_such_setting').length - 1
}
