import { randomBytes } from 'node:crypto'
import { Resolver } from 'node:dns/promises'
import { chmod, mkdir, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { sql } from 'kysely'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { readConfig } from '../../kernel/config/config.ts'
import { openDatabase } from '../../kernel/db/database.ts'
import { MIGRATIONS, productVersion } from '../../kernel/db/migrate.ts'
import { FEED_NAME } from '../../kernel/db/nodes.ts'
import { freeBytes } from '../../kernel/http/health.ts'
import { createLogger } from '../../kernel/log/logger.ts'
import { writeBackup } from '../../testing/backups.ts'
import { asSuperuser, executeOn, withDatabase } from '../../testing/databases.ts'
import { openDns } from '../../testing/dns-server.ts'
import { folderForTest } from '../../testing/folder-for-test.ts'
import { freePort } from '../../testing/free-port.ts'
import { collectLog } from '../../testing/log-lines.ts'
import { appForTest, SECRET } from '../../testing/test-app.ts'
import { backupName } from '../backup/backup-folder.ts'
import { checkBackup, checkBackups } from './backup-check.ts'
import { checkNodes, checkRights, checkSecret } from './database-checks.ts'
import { checkBackupDisk, checkDisk } from './disk-check.ts'
import { selectDailyGrowth, selectDatabaseFacts } from './doctor.repository.ts'
import { watchHealth } from './doctor.service.ts'
import { checkMailDomain } from './mail-checks.ts'
import { checkParts } from './parts.ts'
import { checkPages, checkSettings, checkUnit } from './settings-checks.ts'

test('a fault while the server runs is logged once, and its end once', async () => {
  const app = await appForTest()
  const log = collectLog()
  const config = readConfig({ DATA_DIR: app.dataDir })
  const stop = watchHealth(
    { db: app.db, config },
    { log: createLogger('info', log.stream), firstMs: 1, everyMs: 20 },
  )
  onTestFinished(stop)
  const setDifferences = (differences: number) =>
    executeOn(
      app.databaseUrl,
      `UPDATE installation SET counter_differences = ${differences}, counters_checked_at = now()`,
    )
  await setDifferences(3)
  const warned = JSON.parse(await log.line('"check":"counters"'))
  expect(warned).toMatchObject({
    level: 'warn',
    state: 'broken',
    fix: 'Исправьте: vslukh recount',
  })
  await setDifferences(0)
  const mended = JSON.parse(await log.line('"check":"counters"', 2))
  expect(mended).toMatchObject({ level: 'info', state: 'ok' })
  expect(log.lines.filter((line) => line.includes('"check":"counters"'))).toHaveLength(2)
})

test('a unit of the operator’s own that hides the package’s is named', async () => {
  const folder = await folderForTest()
  const [own, packaged] = [join(folder, 'own.service'), join(folder, 'packaged.service')]
  await writeFile(own, '')
  expect(checkUnit([own, packaged])).toEqual([])
  await writeFile(packaged, '')
  expect(checkUnit([own, packaged])).toMatchObject([
    { level: 'warning', message: `${own} действует вместо ${packaged} из пакета` },
  ])
})

test('tables of another role, a superuser, a read-only database and the disks are named, and when they will be full', async () => {
  const app = await appForTest()
  const facts = await selectDatabaseFacts(app.db)
  expect(checkRights(facts)).toMatchObject({ level: 'ok' })
  const superuser = withDatabase(
    asSuperuser(app.databaseUrl),
    new URL(app.databaseUrl).pathname.slice(1),
  )
  await executeOn(superuser, 'CREATE TABLE strange ()')
  expect(checkRights(await selectDatabaseFacts(app.db))).toMatchObject({
    level: 'broken',
    message: 'роли не хватает прав: чужих таблиц 1',
    fix: expect.stringContaining('OWNER TO'),
  })
  const { db, close } = openDatabase(superuser, () => {})
  const own = checkRights(await selectDatabaseFacts(db).finally(close))
  expect(own).toMatchObject({
    level: 'warning',
    message: expect.stringContaining('суперпользователь'),
  })

  const olga = await app.signUp()
  for (let n = 0; n < 2; n++) await app.publish(olga)
  await sql`UPDATE posts SET created_at = now() - interval '8 days'
    WHERE id = (SELECT min(id) FROM posts)`.execute(app.db)
  const { rows } = await sql<{
    bytes: number
  }>`SELECT sum(pg_total_relation_size(oid))::float8 AS bytes
    FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'`.execute(app.db)
  const growth = await selectDailyGrowth(app.db)
  expect(growth / ((rows[0]?.bytes ?? 0) / 2 / 7)).toBeCloseTo(1, 1)
  const free = await freeBytes(app.dataDir)
  const soon = await checkDisk(app.dataDir, free / 10)
  expect(soon).toMatchObject({ message: expect.stringMatching(/хватит на (?:9|10|11) дн\./) })
  expect(soon.level).not.toBe('ok')
  expect((await checkDisk(app.dataDir, growth)).message).toMatch(/хватит на \d+ дн\./)
  expect(await checkBackupDisk(app.dataDir, app.dataDir)).toBe(undefined)
  expect(await checkBackupDisk(join(app.dataDir, 'none'), undefined)).toBe(undefined)
  expect(await checkBackupDisk(app.dataDir, '/proc')).toMatchObject({ check: 'backup disk' })
  const readOnly = await app.db.transaction().execute(async (tx) => {
    await sql`SET TRANSACTION READ ONLY`.execute(tx)
    return checkRights(await selectDatabaseFacts(tx))
  })
  expect(readOnly).toMatchObject({ level: 'broken', message: 'база данных только для чтения' })
})

/** Starts a DNS server that knows these TXT records. Resolves to a resolver that asks it. */
async function dnsForTest(records: Record<string, string>): Promise<Resolver> {
  const port = await freePort()
  const texts = Object.entries(records).map(([name, text]) => `--txt-record=${name},${text}`)
  await openDns('--listen-address=127.0.0.1', `--port=${port}`, '--local=/test/', ...texts)
  const resolver = new Resolver({ timeout: 2000, tries: 1 })
  resolver.setServers([`127.0.0.1:${port}`])
  return resolver
}

test('SPF, DMARC and DKIM records of MAIL_FROM are checked: missing ones and another key are named; a silent DNS is no fault', async () => {
  const resolver = await dnsForTest({
    'good.test': 'v=spf1 -all',
    '_dmarc.good.test': 'v=DMARC1; p=none',
    'wall._domainkey.good.test': 'v=DKIM1; k=rsa; p=a bc',
    'half.test': 'v=spf1 -all',
  })
  const check = (from: string, asked: object) => checkMailDomain(from, { resolver, ...asked })
  const dkim = (selector: string, publicKey?: string) => ({ dkim: { selector, publicKey } })
  for (const key of ['abc', undefined]) {
    expect(await check('wall@good.test', dkim('wall', key))).toMatchObject({ level: 'ok' })
  }
  expect(await check('wall@good.test', dkim('other'))).toMatchObject({
    level: 'warning',
    message: 'good.test: в DNS нет записей DKIM (other._domainkey.good.test)',
  })
  expect(await check('wall@good.test', dkim('wall', 'abd'))).toMatchObject({
    level: 'warning',
    message: expect.stringContaining('(wall._domainkey.good.test, с ключом из DKIM_KEY_FILE)'),
  })
  expect(await check('wall@half.test', {})).toMatchObject({
    level: 'warning',
    message: 'half.test: в DNS нет записей DMARC (_dmarc.half.test)',
  })
  expect(await check('no-reply@localhost', {})).toMatchObject({ level: 'ok' })
  resolver.setServers([`127.0.0.1:${await freePort()}`])
  expect(await check('wall@good.test', {})).toMatchObject({
    level: 'ok',
    message: expect.stringContaining('не отвечает'),
  })
})

test('backups are judged by the files in BACKUP_DIR: a missing or empty folder and an old file are broken', async () => {
  const folder = await folderForTest()
  const noted = { bytes: 25e6, failed: null, verificationFailed: null, verifiedAt: new Date() }
  const check = (at: Date | null) => checkBackups({ ...noted, at }, folder)
  expect(await check(null)).toMatchObject({ level: 'warning', message: 'копий нет' })
  expect(await check(new Date())).toMatchObject({
    level: 'broken',
    message: `в папке ${folder} нет ни одной копии`,
    fix: expect.stringContaining(`vslukh backup ${folder}`),
  })
  const file = join(folder, backupName(new Date()))
  const migration = Object.keys(MIGRATIONS).at(-1) ?? ''
  await writeBackup(file, { migration }, async (writer) => {
    const part = await writer.addPart(Readable.from([randomBytes(2.5 * 1024 * 1024)]))
    return [{ table: 'posts', columns: ['id'], ...part }]
  })
  expect((await check(new Date())).message).toContain('сделана сегодня, 3 МиБ')
  const old = new Date(Date.now() - 5 * 86_400_000)
  await utimes(file, old, old)
  expect(await check(new Date())).toMatchObject({
    level: 'broken',
    message: expect.stringContaining('5 дн. назад'),
  })
  await rm(folder, { recursive: true })
  expect(await check(new Date())).toMatchObject({
    level: 'broken',
    message: expect.stringContaining(folder),
    fix: expect.stringContaining('BACKUP_DIR'),
  })
})

test('the newest backup is broken if it is no backup, is of a version that this one cannot restore, or comes from the future', async () => {
  const noted = { bytes: 25e6, failed: null, verificationFailed: null, verifiedAt: new Date() }
  const judge = async (name: string, write: (path: string) => Promise<void>) => {
    const folder = await folderForTest()
    await write(join(folder, name))
    return checkBackups({ ...noted, at: new Date(0) }, folder)
  }
  const today = backupName(new Date())
  expect(await judge(today, (path) => writeFile(path, randomBytes(100)))).toMatchObject({
    level: 'broken',
    message: expect.stringContaining('не копия стены'),
  })
  const foreign = (path: string) => writeBackup(path, { migration: '999-next', version: '9.0.0' })
  expect(await judge(today, foreign)).toMatchObject({
    level: 'broken',
    message: expect.stringContaining('9.0.0'),
  })
  const createdAt = '2099-01-01T00:00:00.000Z'
  const migration = Object.keys(MIGRATIONS).at(-1) ?? ''
  const future = (path: string) => writeBackup(path, { migration, createdAt })
  expect(await judge(backupName(new Date(createdAt)), future)).toMatchObject({
    level: 'broken',
    message: expect.stringContaining('в будущем: 2099'),
  })
})

test('a secret that others may read, pages that cannot be read, and nodes of two versions are named', async () => {
  const app = await appForTest()
  const folder = await folderForTest()
  const config = readConfig({ DATA_DIR: folder })
  const secret = join(folder, 'app-secret')
  await writeFile(secret, SECRET, { mode: 0o600 })
  expect(await checkSecret(app.db, config)).toMatchObject({ level: 'ok' })
  await chmod(secret, 0o644)
  expect(await checkSecret(app.db, config)).toMatchObject({
    level: 'warning',
    fix: `chmod 600 ${secret}`,
  })

  expect(await checkPages(config)).toMatchObject({ level: 'ok' })
  await mkdir(join(folder, 'pages/privacy.md'), { recursive: true })
  await writeFile(join(folder, 'pages/rules.md'), '{{OPERATOR_NAM}}, {{CONTACT_EMAIL}}')
  const { level, message } = await checkPages(config)
  expect(level).toBe('broken')
  expect(message).toContain('rules.md: поля {{OPERATOR_NAM}} нет; privacy.md не читается (EISDIR)')

  const checked = async () => checkNodes(await selectDatabaseFacts(app.db))
  expect(await checked()).toEqual([])
  const node = new pg.Client({
    connectionString: app.databaseUrl,
    application_name: `${FEED_NAME}0.9.0`,
  })
  await node.connect()
  onTestFinished(() => node.end())
  // The app's own feed may connect after it.
  await expect
    .poll(checked)
    .toMatchObject([
      { level: 'warning', message: expect.stringContaining(`0.9.0, ${productVersion()}`) },
    ])
})

test('an outdated PostgreSQL or Node is named with its month and the way to upgrade this installation', () => {
  const now = new Date('2026-11-26')
  const embedded = { postgres: '18.4', node: '26.10.0', isEmbedded: true }
  expect(checkParts(embedded, now)).toMatchObject({
    level: 'warning',
    message: expect.stringMatching(
      /PostgreSQL 18\.4 из мая 2026, Node 26\.10\.0 из сентября 2026$/,
    ),
    fix: expect.stringMatching(/PostgreSQL системы.*Node 26/),
  })
  const own = { postgres: '15.18 (Debian 15.18-0+deb12u1)', node: '26.12.0', isEmbedded: false }
  expect(checkParts(own, now)).toMatchObject({
    level: 'warning',
    message: expect.stringMatching(/: PostgreSQL 15\.18 из мая 2026$/),
    fix: expect.stringContaining('apt upgrade'),
  })
  expect(checkParts({ ...own, postgres: '15.20' }, now)).toMatchObject({ level: 'ok' })
})

test('changed rate limits and public metrics are warned of', async () => {
  const https = { PUBLIC_URL: 'https://wall.example', MAIL_MODE: 'print' }
  const own = { OPERATOR_NAME: 'Ольга', CONTACT_EMAIL: 'olga@example.org' }
  const check = (env: object) => checkSettings(readConfig({ ...https, ...own, ...env }))
  expect(await check({ METRICS_PORT: '9464', METRICS_HOST: '10.0.0.7' })).toMatchObject({
    level: 'ok',
  })
  const open = await check({ METRICS_PORT: '9464', METRICS_HOST: '::', RATE_LIMIT_SCALE: '1000' })
  expect(open.level).toBe('warning')
  expect(open.message).toMatch(/RATE_LIMIT_SCALE=1000.*METRICS_HOST=::/)
})

test('a backup that is fresh and verified is well; one that failed, is old, missing or unverified is not', () => {
  const now = new Date('2026-03-30T12:00:00Z')
  const fresh = {
    at: new Date('2026-03-30T03:30:00Z'),
    bytes: 25e6,
    failed: null,
    verificationFailed: null,
  }
  const verifiedAt = new Date('2026-03-28T03:30:00Z')
  const check = (change: object) => checkBackup({ ...fresh, verifiedAt, ...change }, now)
  const level = (change: object) => check(change).level
  expect(check({}).message).toBe('последняя копия сделана сегодня, 24 МиБ, копии проверяются')
  expect(check({ at: new Date('2026-03-29T03:30:00Z') }).message).toContain('сделана вчера')
  expect(check({ at: new Date('2026-03-27T03:30:00Z') }).message).toContain('сделана 3 дн. назад')
  expect(level({})).toBe('ok')
  expect(level({ failed: 'на диске не осталось места' })).toBe('broken')
  expect(level({ at: new Date('2026-03-26T03:30:00Z') })).toBe('broken')
  expect(level({ verificationFailed: 'Копия неверна' })).toBe('broken')
  expect(level({ at: null })).toBe('warning')
  expect(level({ verifiedAt: null })).toBe('warning')
  expect(level({ verifiedAt: new Date('2026-03-01T03:30:00Z') })).toBe('warning')
})
