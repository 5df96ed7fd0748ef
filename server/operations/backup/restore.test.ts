import { mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { invite } from '../../features/site-state/site-state.service.ts'
import { migrate } from '../../kernel/db/migrate.ts'
import { keepRestoresAway } from '../../kernel/db/restore-lock.ts'
import { closeAfterTest } from '../../testing/close-after-test.ts'
import {
  BACKUP_SECRET,
  emptyDatabase,
  restoreOptions,
  sumsOf,
  writeBackup,
} from '../../testing/database/backups.ts'
import { clientForTest, databaseForTest } from '../../testing/database/database-for-test.ts'
import { executeOn, withClient } from '../../testing/database/databases.ts'
import { openPostgresProxy } from '../../testing/database/postgres-proxy.ts'
import { envOf, runHere } from '../../testing/process/run-command.ts'
import { appForFile, appForTest, NODES, startTestApp } from '../../testing/test-app.ts'
import { createBackup } from './create-backup.service.ts'
import { loadIntoScratch } from './load-scratch.repository.ts'
import type { Progress } from './progress.ts'
import { restoreBackup } from './restore.service.ts'
import {
  countServers,
  dropScratch,
  replaceTables,
  withRestoreLock,
} from './scratch-schema.repository.ts'

const app = await appForFile()

const options = (given?: Parameters<typeof restoreOptions>[1]) => restoreOptions(app.dataDir, given)

await app.signUp()
const invitation = { days: 7, uses: 5, note: 'Клуб', origin: '', actor: 'masha' }
const { id } = await invite(app.db, invitation)
const path = join(app.dataDir, 'wall.backup')
const { manifest } = await createBackup(app.databaseUrl, path, { secret: BACKUP_SECRET })

test('a restore refuses a wall, a running server, another secret and a newer version, and changes nothing', async () => {
  await expect(restoreBackup(app.databaseUrl, path, options())).rejects.toThrow('Остановите его')
  const other = options({ appSecret: 'z'.repeat(43) })
  const url = await emptyDatabase()
  await expect(restoreBackup(url, path, other)).rejects.toThrow('APP_SECRET не тот')
  await restoreBackup(url, path, options())
  await expect(restoreBackup(url, path, options())).rejects.toThrow('there is a wall')
  await restoreBackup(url, path, options({ requireReplaceable: async () => {} }))
  const copy = await createBackup(url, join(app.dataDir, 'twice.backup'), { secret: null })
  expect(sumsOf(copy.manifest)).toEqual(sumsOf(manifest))
  const invited = await executeOn(url, 'SELECT id, note, uses, uses_left FROM invitations')
  expect(invited).toEqual([{ id, note: 'Клуб', uses: 5, uses_left: 5 }])

  const newer = join(app.dataDir, 'newer.backup')
  await writeBackup(newer, { ...manifest, migration: '999-future', version: '9.0.0' })
  await expect(restoreBackup(url, newer, options())).rejects.toThrow('другой версии: 9.0.0')
})

test('a backup brings its secret to a machine that has none, also into a PostgreSQL of its own', async () => {
  const DATA_DIR = join(app.dataDir, 'new-machine')
  const env = { DATABASE_URL: await emptyDatabase(), DATA_DIR }
  expect(await runHere(env, ['restore', path])).toMatchObject({ code: 0 })
  expect(await readFile(join(DATA_DIR, 'app-secret'), 'utf8')).toBe(`${BACKUP_SECRET}\n`)
  expect(await runHere(env, ['status'])).toMatchObject({ code: 0 })
})

test('a wall whose restore or first start ended before its queue was complete gets it from the next command', async () => {
  const databaseUrl = await databaseForTest()
  await executeOn(databaseUrl, 'DROP SCHEMA graphile_worker CASCADE')
  const line = closeAfterTest(await openPostgresProxy(databaseUrl, 'vslukh start'))
  const frozen = line.freezeAt(90)
  const ended = migrate(line.url).catch(() => 'cut off')
  await frozen
  line.cut()
  expect(await ended).toBe('cut off')
  const read = 'SELECT task_identifier FROM graphile_worker.jobs'
  await expect(executeOn(databaseUrl, read)).rejects.toThrow('does not exist')

  expect(await runHere(envOf({ databaseUrl }), ['status'])).toMatchObject({ code: 0, err: '' })
  expect(await executeOn(databaseUrl, read)).toEqual([])
})

test('a dry run makes the checks of a restore, states what happens to the secret, and changes nothing', async () => {
  const bare = join(app.dataDir, 'bare.backup')
  await createBackup(app.databaseUrl, bare, { secret: null })
  const url = await emptyDatabase()
  const dataDir = await mkdtemp(join(app.dataDir, 'dry-'))
  const own = restoreOptions(dataDir, { appSecret: undefined })
  const dryRun = (target: string, file: string) =>
    restoreBackup(target, file, { ...own, isDryRun: true })
  expect(await dryRun(url, path)).toMatchObject({ secret: 'placed' })
  expect(await dryRun(url, bare)).toMatchObject({ secret: 'missing' })
  await expect(dryRun(app.databaseUrl, path)).rejects.toThrow('Остановите его')
  expect(await readdir(dataDir)).toEqual([])
  const tables = `SELECT FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`
  expect(await executeOn(url, tables)).toEqual([])
  await writeFile(join(dataDir, 'app-secret'), BACKUP_SECRET)
  expect(await dryRun(url, path)).toMatchObject({ secret: 'same' })
})

test('a restore gives no id again that was given after the backup', async () => {
  const dataDir = await mkdtemp(join(app.dataDir, 'ids-'))
  const wall = await startTestApp({ databaseUrl: await databaseForTest() })
  const author = await wall.signUp()
  await wall.publish(author)
  const backUp = async (name: string, now: Date) => {
    const file = join(dataDir, name)
    await createBackup(wall.databaseUrl, file, { secret: BACKUP_SECRET, now })
    return file
  }
  const fresh = await backUp('fresh.backup', new Date())
  const old = await backUp('old.backup', new Date(Date.now() - 3_600_000))
  const [user, post] = [(await wall.signUp()).id, (await wall.publish(author)).id]
  await wall.close()

  const lastIds = async (url: string) => {
    const [ids] = await executeOn<{ user: string; post: string }>(
      url,
      'SELECT (SELECT last_value FROM users_id_seq) AS user, (SELECT last_value FROM posts_id_seq) AS post',
    )
    return [Number(ids?.user), Number(ids?.post)]
  }
  const elsewhere = await emptyDatabase()
  await restoreBackup(elsewhere, old, options())
  const [elsewhereUser = 0, elsewherePost = 0] = await lastIds(elsewhere)
  expect(elsewhereUser).toBeGreaterThanOrEqual(Number(user))
  expect(elsewherePost).toBeGreaterThanOrEqual(Number(post) + 70_000)
  // A wall that only moves keeps short ids.
  const copy = await emptyDatabase()
  await restoreBackup(copy, fresh, options())
  expect((await lastIds(copy))[1]).toBeLessThan(70_000)

  await executeOn(wall.databaseUrl, `SELECT setval('posts_id_seq', 5000000)`)
  await restoreBackup(wall.databaseUrl, fresh, options({ requireReplaceable: async () => {} }))
  const again = await appForTest({ databaseUrl: wall.databaseUrl })
  expect(Number((await again.publish(await again.signUp())).id)).toBe(5_000_001)
})

test('a restore that fails at its end, or beside a server that has started meanwhile, leaves the wall and its secret as they were', async () => {
  const dataDir = await mkdtemp(join(app.dataDir, 'data-'))
  const secretFile = join(dataDir, 'app-secret')
  await writeFile(secretFile, 'the old one')
  const own = restoreOptions(dataDir, { appSecret: undefined })

  const blocked = await emptyDatabase()
  // No version of the product has materialized views, so a restore leaves them alone.
  await executeOn(blocked, 'CREATE MATERIALIZED VIEW bans AS SELECT 1 AS one')
  await expect(restoreBackup(blocked, path, own)).rejects.toThrow('"bans" already exists')
  expect(await readFile(secretFile, 'utf8')).toBe('the old one')

  const databaseUrl = await databaseForTest()
  await executeOn(databaseUrl, `INSERT INTO journal (actor, action) VALUES ('masha', 'invite')`)
  const startServer = async () => {
    await appForTest({ databaseUrl })
    await expect.poll(() => withClient(databaseUrl, countServers)).toBe(NODES)
  }
  const beside = restoreBackup(databaseUrl, path, { ...own, requireReplaceable: startServer })
  await expect(beside).rejects.toThrow('Остановите его')
  expect(await readFile(secretFile, 'utf8')).toBe('the old one')
  expect(await readdir(dataDir)).toEqual(['app-secret'])
  const rows = await executeOn(databaseUrl, 'SELECT actor FROM journal')
  expect(rows).toEqual([{ actor: 'masha' }])
})

test('no server starts and no other restore begins during a restore, and no restore begins while a server starts', async () => {
  const url = await emptyDatabase()
  const lock = await keepRestoresAway(url)
  await expect(restoreBackup(url, path, options())).rejects.toThrow('запускается сервер')
  await lock[Symbol.asyncDispose]()
  await withRestoreLock(url, async () => {
    await expect(keepRestoresAway(url)).rejects.toThrow('восстанавливают')
    const second = restoreBackup(url, path, options())
    await expect(second).rejects.toThrow('уже восстанавливает другая команда')
  })
})

test('a restore names the programs that hold the wall’s tables, instead of waiting for them', async () => {
  const url = await databaseForTest()
  const psql = await clientForTest(url)
  await psql.query('BEGIN; SELECT FROM posts')
  const backup = { path, manifest }
  await withRestoreLock(url, async (client) => {
    await loadIntoScratch(client, url, { backup, onProgress() {} })
    const replacing = replaceTables(client, async () => {}, '50ms')
    await expect(replacing).rejects.toThrow(/держат другие программы, .*pg_stat_activity/)
    await dropScratch(client)
  })
  await psql.query('COMMIT')
  await restoreBackup(url, path, options({ requireReplaceable: async () => {} }))
})

test('a restore that is interrupted leaves the wall that was there and no rows beside it', async () => {
  const databaseUrl = await databaseForTest()
  const interrupting = new AbortController()
  const onProgress: Progress = (step) => void (step === 'load' && interrupting.abort())
  const { signal } = interrupting
  const interrupted = restoreBackup(databaseUrl, path, { ...options(), onProgress, signal })
  await expect(interrupted).rejects.toThrow('aborted')
  const rows = await executeOn(
    databaseUrl,
    `SELECT to_regnamespace('vslukh_restore') AS left, to_regclass('posts')::text AS there`,
  )
  expect(rows).toEqual([{ left: null, there: 'posts' }])
})

test('after a restore into an empty database that was killed, a start and a command name the restore, which is then done again', async () => {
  const url = await emptyDatabase()
  const onProgress = () => {}
  // A kill leaves what is loaded by then, because nobody takes it away.
  const backup = { path, manifest }
  await withRestoreLock(url, (client) => loadIntoScratch(client, url, { backup, onProgress }))
  await expect(migrate(url)).rejects.toThrow(/^В этой базе не закончено .* vslukh restore ФАЙЛ\.$/)
  const { code, err } = await runHere(envOf({ databaseUrl: url }), ['status'])
  expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining('vslukh restore ФАЙЛ') })
  await restoreBackup(url, path, options())
  await migrate(url)
})
