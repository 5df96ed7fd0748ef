import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type EmbeddedPostgres, startEmbeddedPostgres } from './embedded-postgres.ts'
import { isServerOf } from './pid-file.ts'

const isRoot = process.getuid?.() === 0
let root: string
let dataDir: string
let closing: (() => Promise<unknown>)[]

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'embedded-'))
  dataDir = join(root, 'data')
  closing = []
})

afterEach(async () => {
  for (const close of closing.reverse()) await close()
  await rm(root, { recursive: true, force: true })
})

type Told = { lines: string[]; lost: Error[]; recovered: Promise<void> }

async function start(folder = dataDir): Promise<EmbeddedPostgres & Told> {
  const lines: string[] = []
  const lost: Error[] = []
  const { promise: recovered, resolve } = Promise.withResolvers<void>()
  const say = (line: string) => {
    lines.push(line)
    if (line.includes('снова работает')) resolve()
  }
  const onLost = (error: Error) => lost.push(error)
  const postgres = await startEmbeddedPostgres({ dataDir: folder, say, onLost })
  closing.push(postgres.stop)
  return { ...postgres, lines, lost, recovered }
}

type Message = { connectionString?: string; refused?: string; lost?: string }

function startChild(env = process.env): { child: ChildProcess; message: Promise<Message> } {
  const script = join(import.meta.dirname, 'embedded-postgres.child.ts')
  const child = fork(script, [dataDir], { env, execArgv: [] })
  closing.push(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const exit = once(child, 'exit')
    if (child.connected) child.send('stop')
    await exit
  })
  return { child, message: once(child, 'message').then(([message]) => message as Message) }
}

async function query(connectionString: string, sql: string): Promise<unknown[]> {
  const client = new Client({ connectionString })
  client.on('error', () => {})
  await client.connect()
  try {
    const { rows } = await client.query({ text: sql, rowMode: 'array' })
    return rows.flat()
  } finally {
    await client.end()
  }
}

async function pidOf(folder = dataDir): Promise<number> {
  const text = await readFile(join(folder, 'postgres', 'postmaster.pid'), 'utf8')
  return Number.parseInt(text, 10)
}

test('keeps its data from one start to the next, and is gone in between', async () => {
  const first = await start()
  await query(first.connectionString, `create table kept as select 'да' as word`)
  const pid = await pidOf()
  await Promise.all([first.stop(), first.stop()])
  expect(await isServerOf(pid, join(dataDir, 'postgres'))).toBe(false)
  await expect(query(first.connectionString, 'select 1')).rejects.toThrow()

  const second = await start()
  expect(await query(second.connectionString, 'select word from kept')).toEqual(['да'])
})

test('is durable, speaks UTF-8 and sorts the same on every machine', async () => {
  const { connectionString } = await start()
  const settings = ['fsync', 'synchronous_commit', 'full_page_writes', 'jit', 'max_connections']
  const values = settings.map((name) => `current_setting('${name}')`).join()
  expect(await query(connectionString, `select ${values}`)).toEqual(['on', 'on', 'on', 'off', '60'])
  const text = `select getdatabaseencoding(), current_setting('timezone'), lower('ЁЖ'), 'Б' < 'а'`
  expect(await query(connectionString, text)).toEqual(['UTF8', 'UTC', 'ёж', true])
})

test('is closed to every other user of the machine', async () => {
  await start()
  const { mode } = await stat(join(dataDir, 'postgres'))
  expect(mode & 0o077).toBe(0)
})

test('leaves what users wrote out of its log', async () => {
  const { connectionString } = await start()
  await query(connectionString, 'create table users (email text unique)')
  const insert = `insert into users values ('anna@example.org')`
  await query(connectionString, insert)
  await expect(query(connectionString, insert)).rejects.toThrow('duplicate key')
  const log = await readFile(join(dataDir, 'postgres.log'), 'utf8')
  expect(log).toContain('ready to accept connections')
  expect(log).not.toContain('anna')
})

test('takes over the database of a server that was killed', async () => {
  const { child, message } = startChild()
  const { connectionString = '' } = await message
  await query(connectionString, 'create table kept as select 1 as number')
  const pid = await pidOf()
  const exit = once(child, 'exit')
  child.kill('SIGKILL')
  await exit

  const next = await start()
  expect(await pidOf()).toBe(pid)
  expect(await query(next.connectionString, 'select number from kept')).toEqual([1])
  await next.stop()
  expect(await isServerOf(pid, join(dataDir, 'postgres'))).toBe(false)
})

test('starts by itself after server and database were both killed', async () => {
  const { child, message } = startChild()
  const { connectionString = '' } = await message
  await query(connectionString, 'create table kept as select 1 as number')
  const exit = once(child, 'exit')
  child.kill('SIGKILL')
  process.kill(await pidOf(), 'SIGKILL')
  await exit

  const next = await start()
  expect(await query(next.connectionString, 'select number from kept')).toEqual([1])
})

test('refuses a second server on the same folder and leaves the first alone', async () => {
  const first = await start()
  const pid = await pidOf()
  const { child, message } = startChild()
  const exit = once(child, 'exit')
  expect((await message).refused).toContain(`Папка данных ${dataDir} уже занята`)
  await exit
  expect(await pidOf()).toBe(pid)
  expect(await query(first.connectionString, 'select 1')).toEqual([1])
  expect(first.lines.join()).not.toContain('потеряна')
})

test.each(['new', 'existing'])(
  'lets exactly one of several simultaneous starts win: %s folder',
  async (kind) => {
    if (kind === 'existing') await (await start()).stop()
    const answers = await Promise.all([1, 2, 3].map(() => startChild().message))
    const winners = answers.flatMap(({ connectionString }) => connectionString ?? [])
    const refusals = answers.flatMap(({ refused }) => refused ?? [])
    expect(winners).toHaveLength(1)
    expect(refusals).toEqual([0, 1].map(() => expect.stringContaining('уже занята')))
    expect(await query(winners[0] ?? '', 'select 1')).toEqual([1])
    expect((await readdir(dataDir)).sort()).toEqual(['postgres', 'postgres.log'])
  },
)

test('brings a killed PostgreSQL back, still locked, at the same address', async () => {
  const postgres = await start()
  await query(postgres.connectionString, 'create table kept as select 1 as number')
  const pid = await pidOf()
  process.kill(pid, 'SIGKILL')
  await postgres.recovered
  expect(await pidOf()).not.toBe(pid)
  expect(await query(postgres.connectionString, 'select number from kept')).toEqual([1])
  await expect(start()).rejects.toThrow('уже занята')
  expect(postgres.lost).toEqual([])
})

test('takes its lock again when only the connections died', async () => {
  const postgres = await start()
  const pid = await pidOf()
  const backend = `select pid from pg_stat_activity where application_name = '' and datname = 'postgres'`
  const [victim] = await query(postgres.connectionString, backend)
  process.kill(Number(victim), 'SIGKILL')
  await postgres.recovered
  expect(await pidOf()).toBe(pid)
  await expect(start()).rejects.toThrow('уже занята')
})

test('reports a PostgreSQL that cannot be brought back, once, and can still be stopped', async () => {
  const { promise, resolve } = Promise.withResolvers<Error>()
  const postgres = await startEmbeddedPostgres({ dataDir, say: () => {}, onLost: resolve })
  closing.push(postgres.stop)
  const pid = await pidOf()
  await writeFile(join(dataDir, 'postgres', 'postgresql.auto.conf'), 'no_such_setting = 1\n')
  process.kill(pid, 'SIGKILL')
  expect((await promise).message).toContain('no_such_setting')
  await postgres.stop()
}, 40_000)

test('can be stopped while it brings PostgreSQL back', async () => {
  const postgres = await start()
  process.kill(await pidOf(), 'SIGKILL')
  await postgres.stop()
  const next = await start()
  expect(await query(next.connectionString, 'select 1')).toEqual([1])
})

test('undoes a start that is called off', async () => {
  await (await start()).stop()
  const off = new AbortController()
  const lost: Error[] = []
  const options = { dataDir, say: () => {}, onLost: (error: Error) => lost.push(error) }
  const starting = startEmbeddedPostgres({ ...options, signal: off.signal })
  off.abort()
  await expect(starting).rejects.toThrow()
  await expect(pidOf()).rejects.toThrow('ENOENT')
})

test('is not held up by a lock file whose pid went to another program', async () => {
  const { stop } = await start()
  const pid = await pidOf()
  const file = join(dataDir, 'postgres', 'postmaster.pid')
  const socketLock = join(dataDir, 'postgres', '.s.PGSQL.5432.lock')
  const [left, leftForSocket] = await Promise.all(
    [file, socketLock].map((path) => readFile(path, 'utf8')),
  )
  await stop()
  // This very test process stands for the other program; it is not the parent of the child's PostgreSQL.
  const reused = (text = '') => text.replace(String(pid), String(process.pid))
  await writeFile(file, reused(left))
  await writeFile(socketLock, reused(leftForSocket))
  if (isRoot) await Promise.all([file, socketLock].map((path) => chmod(path, 0o600)))
  const { connectionString = '' } = await startChild().message
  expect(await query(connectionString, 'select 1')).toEqual([1])
})

test('is not held up by the lock file of a server that is no more', async () => {
  const { child, message } = startChild()
  await message
  const file = join(dataDir, 'postgres', 'postmaster.pid')
  const left = await readFile(file, 'utf8')
  const exit = once(child, 'exit')
  child.send('stop')
  await exit
  await writeFile(file, left, { mode: 0o600 })
  const { connectionString } = await start()
  expect(await query(connectionString, 'select 1')).toEqual([1])
})

test.each([
  ['longer than a socket path may be', 'очень-длинная-папка-'.repeat(4)],
  ['with spaces, quotes, commas and percent signs', `дом "а, б" 'в' 100%20 +&?#`],
])('works in a folder %s', async (_kind, name) => {
  dataDir = join(root, name)
  const first = await start()
  expect(await query(first.connectionString, 'select 1')).toEqual([1])
  await expect(start()).rejects.toThrow('уже занята')
  await first.stop()
  const next = await start()
  expect(await query(next.connectionString, 'select current_user')).toEqual(['vslukh'])
  const { host } = Object.fromEntries(new URL(next.connectionString).searchParams)
  if (host?.startsWith(tmpdir())) expect((await stat(host)).mode & 0o777).toBe(0o700)
})

test.skipIf(!isRoot)('works as root below a folder that only root may enter', async () => {
  const home = await mkdtemp(join(homedir(), 'embedded-'))
  closing.push(() => rm(home, { recursive: true, force: true }))
  expect((await stat(home)).mode & 0o777).toBe(0o700)
  const { connectionString } = await start(join(home, 'data'))
  expect(await query(connectionString, 'select 1')).toEqual([1])
})

test.skipIf(!isRoot)('works as root where unshare is missing, as another user', async () => {
  await chmod(root, 0o755)
  await mkdir(dataDir, { mode: 0o700 })
  await (await start()).stop()
  const tools = join(root, 'tools')
  await mkdir(tools)
  const id = join(tools, 'id')
  await writeFile(id, '#!/bin/sh\necho 65534\n', { mode: 0o755 })
  const { connectionString = '', refused } = await startChild({ ...process.env, PATH: tools })
    .message
  expect(refused).toBeUndefined()
  expect(await query(connectionString, 'select 1')).toEqual([1])
  expect((await stat(join(dataDir, 'postgres'))).uid).toBe(65534)
})

test('clears what an interrupted first start left behind', async () => {
  await mkdir(join(dataDir, 'postgres.new-aB3dE6', 'base'), { recursive: true })
  await writeFile(join(dataDir, 'postgres.new-aB3dE6', 'PG_VERSION'), '18\n')
  const { connectionString } = await start()
  expect(await query(connectionString, 'select 1')).toEqual([1])
  expect((await readdir(dataDir)).sort()).toEqual(['postgres', 'postgres.log'])
})

test('says so when DATA_DIR/postgres holds something else', async () => {
  await mkdir(join(dataDir, 'postgres'), { recursive: true })
  await writeFile(join(dataDir, 'postgres', 'notes.txt'), 'mine')
  await expect(start()).rejects.toThrow('это не база данных')
  expect(await readdir(dataDir)).toEqual(['postgres'])
})
