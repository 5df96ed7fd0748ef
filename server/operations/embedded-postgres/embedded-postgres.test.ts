import { chmod, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { clientForTest } from '../../testing/database/database-for-test.ts'
import { childrenOf } from '../../testing/process/processes.ts'
import { Folder, query } from './embedded-postgres.fixture.ts'
import { startEmbeddedPostgres } from './embedded-postgres.ts'

const at = new Folder()

test('is durable, speaks UTF-8 and sorts the same on every machine', async () => {
  const { connectionString } = await at.start()
  const settings = `select setting from pg_settings where name in
    ('fsync', 'full_page_writes', 'jit', 'max_connections', 'synchronous_commit') order by name`
  expect(await query(connectionString, settings)).toEqual(['on', 'on', 'off', '120', 'on'])
  const text = `select getdatabaseencoding(), current_setting('timezone'), lower('ЁЖ'), 'Б' < 'а'`
  expect(await query(connectionString, text)).toEqual(['UTF8', 'UTC', 'ёж', true])
})

test('the product’s role owns its database and may do nothing else', async () => {
  const rights = `select rolsuper or rolcreatedb or rolcreaterole or rolreplication or rolbypassrls
    or pg_has_role(rolname, 'pg_read_server_files', 'member') from pg_roles where rolname = current_user`
  expect(await query((await at.start()).connectionString, rights)).toEqual([false])
})

test('texts of users stay out of its log, which has each statement that takes longer than half a second', async () => {
  const { connectionString } = await at.start()
  const client = await clientForTest(connectionString)
  await client.query('create table users (email text unique)')
  const insert = () => client.query(`insert into users values ('anna@example.org')`)
  await insert()
  await expect(insert()).rejects.toThrow('duplicate key')
  await client.query('select $1::text, pg_sleep(0)', ['быстрая тайна'])
  await client.query('select $1::text, pg_sleep(0.6)', ['медленная тайна'])
  const log = await readFile(join(at.dataDir, 'postgres.log'), 'utf8')
  expect(log).toMatch(/duration: \d{3,}\.\d+ ms .*select \$1::text, pg_sleep\(0\.6\)/)
  expect(log).not.toMatch(/anna|тайна|pg_sleep\(0\)/)
})

test.each(['new', 'existing'])(
  'lets exactly one of several simultaneous starts win: %s folder',
  async (kind) => {
    if (kind === 'existing') await (await at.start()).stop()
    const answers = await Promise.all([1, 2, 3].map(() => at.startChild().message))
    const winners = answers.flatMap(({ connectionString }) => connectionString ?? [])
    const refusals = answers.flatMap(({ refused }) => refused ?? [])
    expect(winners).toHaveLength(1)
    expect(refusals).toEqual([0, 1].map(() => expect.stringContaining('уже занята')))
    expect(await query(winners[0] ?? '', 'select 1')).toEqual([1])
    expect((await readdir(at.dataDir)).sort()).toEqual(['postgres', 'postgres.log'])
  },
)

test('undoes a start that is aborted', async () => {
  await (await at.start()).stop()
  const abort = new AbortController()
  const { signal } = abort
  const starting = startEmbeddedPostgres({ dataDir: at.dataDir, say: () => {}, signal })
  abort.abort()
  await expect(starting).rejects.toThrow()
  await expect(at.pid()).rejects.toThrow('ENOENT')
})

test('leaves no PostgreSQL behind when it is stopped while that recovers from a crash', async () => {
  const { promise: stopped, resolve } = Promise.withResolvers<void>()
  const say = (line: string) => void (line.includes('потеряна') && resolve(postgres.stop()))
  const postgres = await startEmbeddedPostgres({ dataDir: at.dataDir, say })
  onTestFinished(postgres.stop)
  const [backend = 0] = childrenOf(await at.pid())
  process.kill(backend, 'SIGKILL')
  await stopped
  await expect(at.pid()).rejects.toThrow('ENOENT')
})

test('stops its PostgreSQL even if the file with the pid cannot be read', async () => {
  const { stop } = await at.start()
  const pid = await at.pid()
  const file = join(at.dataDir, 'postgres', 'postmaster.pid')
  await rm(file)
  await mkdir(file)
  await stop()
  expect(() => process.kill(pid, 0)).toThrow('ESRCH')
})

test('starts although the folder was opened to others, and closes it', async () => {
  const { stop } = await at.start()
  await stop()
  const cluster = join(at.dataDir, 'postgres')
  await chmod(cluster, 0o777)
  const { connectionString } = await at.start()
  expect(await query(connectionString, 'select 1')).toEqual([1])
  expect((await stat(cluster)).mode & 0o777).toBe(0o700)
})

test('starts although another program has the pid in an old lock file', async () => {
  const { stop } = await at.start()
  const pid = await at.pid()
  const file = join(at.dataDir, 'postgres', 'postmaster.pid')
  const socketLock = join(at.dataDir, 'postgres', '.s.PGSQL.5432.lock')
  const left = await Promise.all([file, socketLock].map((path) => readFile(path, 'utf8')))
  await stop()
  for (const [n, path] of [file, socketLock].entries()) {
    // This very test process stands for the other program; it is not the parent of the child's PostgreSQL.
    const reused = left[n]?.replace(String(pid), String(process.pid)) ?? ''
    await writeFile(path, reused, { mode: 0o600 })
  }
  const { connectionString = '' } = await at.startChild().message
  expect(await query(connectionString, 'select 1')).toEqual([1])
})
