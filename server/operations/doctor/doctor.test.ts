import { randomBytes } from 'node:crypto'
import { Resolver } from 'node:dns/promises'
import { chmod, mkdir, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { createServer as createHttpServer, type RequestListener } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { resultLine } from '../../../operator/doctor.ts'
import { awaitAnswer } from '../../../operator/setup/machine.ts'
import { readConfig } from '../../kernel/config/config.ts'
import { openDatabase } from '../../kernel/db/database.ts'
import { MIGRATIONS, migrate, productVersion } from '../../kernel/db/migrate.ts'
import { FEED_NAME } from '../../kernel/db/nodes.ts'
import { freeBytes } from '../../kernel/http/health.ts'
import { createLogger } from '../../kernel/log/logger.ts'
import { writeBackup } from '../../testing/database/backups.ts'
import { clientForTest } from '../../testing/database/database-for-test.ts'
import { asSuperuser, executeOn, withDatabase } from '../../testing/database/databases.ts'
import { certificateForTest } from '../../testing/http/certificate.ts'
import { openDns } from '../../testing/mail/dns-server.ts'
import { folderForTest } from '../../testing/process/folder-for-test.ts'
import { freePort, listen } from '../../testing/process/free-port.ts'
import { collectLog } from '../../testing/process/log-lines.ts'
import { appForFile, SECRET } from '../../testing/test-app.ts'
import { backupName } from '../backup/backup-folder.ts'
import type { Manifest } from '../backup/manifest.ts'
import { checkBackup, checkBackups } from './backup-check.ts'
import {
  checkCollation,
  checkConnections,
  checkNodes,
  checkRights,
  checkSecret,
} from './database-checks.ts'
import { checkBackupDisk, checkDisk } from './disk-check.ts'
import { selectDailyGrowth, selectDatabaseFacts } from './doctor.repository.ts'
import { watchHealth } from './doctor.service.ts'
import { broken } from './finding.ts'
import { checkMailDomain } from './mail-checks.ts'
import { checkParts } from './parts.ts'
import { checkPages, checkSettings, checkUnit } from './settings-checks.ts'
import { checkFormerUrls, checkSite, explainHttps } from './site-checks.ts'

const app = await appForFile()

const says = (level: 'ok' | 'warning' | 'broken', message: string | RegExp) =>
  expect.objectContaining({ level, message: expect.stringMatching(message) })

test('a fault while the server runs is logged once, and its end once', async () => {
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
  const warned = { level: 'warn', state: 'broken', fix: 'Исправьте: vslukh recount' }
  expect(JSON.parse(await log.line('"check":"counters"'))).toMatchObject(warned)
  await setDifferences(0)
  const mended = { level: 'info', state: 'ok' }
  expect(JSON.parse(await log.line('"check":"counters"', 2))).toMatchObject(mended)
  expect(log.lines.filter((line) => line.includes('"check":"counters"'))).toHaveLength(2)
})

test('a start calls nothing changed: its first check names the warnings in one line, and logs each fault', async () => {
  const config = readConfig({ DATA_DIR: app.dataDir })
  await app.sql`UPDATE installation SET counter_differences = 3, counters_checked_at = now()`
  for (const _start of [1, 2]) {
    const log = collectLog()
    const watch = { log: createLogger('info', log.stream), firstMs: 1, everyMs: 20 }
    const stop = watchHealth({ db: app.db, config }, watch)
    onTestFinished(stop)
    expect(JSON.parse(await log.line('the doctor warns')).checks).toContain('backup')
    const fault = { state: 'broken', check: 'counters', msg: 'the doctor has found a fault' }
    expect(JSON.parse(await log.line('"check":"counters"'))).toMatchObject(fault)
    expect(log.lines.join()).not.toContain('has changed')
    stop()
  }
  await app.sql`UPDATE installation SET counter_differences = 0`
})

test('a unit of the operator’s own that hides the package’s is named', async () => {
  const folder = await folderForTest()
  const [own, packaged] = [join(folder, 'own.service'), join(folder, 'packaged.service')]
  await writeFile(own, '')
  expect(await checkUnit([own, packaged])).toBe(undefined)
  await writeFile(packaged, '')
  const message = `${own} действует вместо ${packaged} из пакета`
  expect(await checkUnit([own, packaged])).toEqual(says('warning', message))
})

test('tables of another role, a superuser, a read-only database and the disks are named, and when they will be full', async () => {
  const facts = await selectDatabaseFacts(app.db)
  expect(checkRights(facts)).toMatchObject({ level: 'ok' })
  const name = new URL(app.databaseUrl).pathname.slice(1)
  const superuser = withDatabase(asSuperuser(app.databaseUrl), name)
  await executeOn(superuser, 'CREATE TABLE strange (id int)')
  expect(checkRights(await selectDatabaseFacts(app.db))).toMatchObject({ level: 'ok' })
  await executeOn(superuser, 'ALTER TABLE mail_pause OWNER TO CURRENT_USER')
  expect(checkRights(await selectDatabaseFacts(app.db))).toMatchObject({
    level: 'broken',
    message: 'роли не хватает прав: чужих таблиц 1',
    fix: expect.stringContaining('OWNER TO'),
  })
  const { db, close } = openDatabase(superuser, () => {})
  const own = checkRights(await selectDatabaseFacts(db).finally(close))
  expect(own).toEqual(says('warning', 'суперпользователь'))

  const olga = await app.signUp()
  for (let n = 0; n < 2; n++) await app.publish(olga)
  await app.sql`UPDATE posts SET created_at = now() - interval '8 days'
    WHERE id = (SELECT min(id) FROM posts)`
  const [size] = await executeOn(
    app.databaseUrl,
    `SELECT sum(pg_total_relation_size(oid))::float8 AS bytes
    FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'`,
  )
  const growth = await selectDailyGrowth(app.db)
  expect(growth / (Number(size?.bytes) / 2 / 7)).toBeCloseTo(1, 1)
  const free = await freeBytes(app.dataDir)
  const soon = await checkDisk(app.dataDir, free / 10)
  expect(soon.message).toMatch(/хватит на (?:9|10|11) дн\./)
  expect(soon.level).not.toBe('ok')
  expect((await checkDisk(app.dataDir, growth)).message).toMatch(/хватит на \d+ дн\./)
  expect(await checkBackupDisk(app.dataDir, app.dataDir)).toBe(undefined)
  expect(await checkBackupDisk(join(app.dataDir, 'none'), undefined)).toBe(undefined)
  expect(await checkBackupDisk(app.dataDir, '/proc')).toHaveProperty('level')
  const readOnly = await app.db.transaction().execute(async (tx) => {
    await sql`SET TRANSACTION READ ONLY`.execute(tx)
    return checkRights(await selectDatabaseFacts(tx))
  })
  expect(readOnly).toEqual(says('broken', 'база данных только для чтения'))
})

test('the doctor compares the connections that are allowed with what the nodes need', async () => {
  const name = new URL(app.databaseUrl).pathname.slice(1)
  const limit = (connections: number) =>
    executeOn(app.databaseUrl, `ALTER DATABASE ${name} CONNECTION LIMIT ${connections}`)
  onTestFinished(async () => void (await limit(-1)))
  const well = await checkConnections(app.db, { nodes: 1, isBehindPooler: false })
  expect(well).toEqual(says('ok', /разрешено 397, узлам нужно 32$/))
  await limit(40)
  expect(await checkConnections(app.db, { nodes: 2, isBehindPooler: true })).toHaveProperty(
    'level',
    'ok',
  )
  expect(await checkConnections(app.db, { nodes: 2, isBehindPooler: false })).toEqual({
    level: 'warning',
    message: 'соединений с базой данных разрешено 40, узлам нужно 60',
    fix: `Разрешите больше: ALTER DATABASE ${name} CONNECTION LIMIT 60`,
  })
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
  const check = (domain: string, selector?: string, publicKey?: string) =>
    checkMailDomain(`wall@${domain}`, {
      resolver,
      ...(selector && { dkim: { selector, publicKey } }),
    })
  expect(await check('good.test', 'wall', 'abc')).toEqual(says('ok', ''))
  expect(await check('good.test', 'wall')).toEqual(says('ok', ''))
  const other = /^good\.test: .* DKIM \(other\._domainkey\.good\.test\)$/
  expect(await check('good.test', 'other')).toEqual(says('warning', other))
  const key = /\(wall\._domainkey\.good\.test, с ключом из DKIM_KEY_FILE\)/
  expect(await check('good.test', 'wall', 'abd')).toEqual(says('warning', key))
  const half = /^half\.test: .* DMARC \(_dmarc\.half\.test\)$/
  expect(await check('half.test')).toEqual(says('warning', half))
  expect(await check('localhost')).toEqual(says('ok', ''))
  resolver.setServers([`127.0.0.1:${await freePort()}`])
  expect(await check('good.test')).toEqual(says('ok', 'не отвечает'))
})

const LAST_MIGRATION = Object.keys(MIGRATIONS).at(-1) ?? ''

test('backups are judged by the files in BACKUP_DIR: a missing or empty folder, an old file, and a newest one that cannot be restored or comes from the future are broken', async () => {
  const folder = await folderForTest()
  const secret = 's'.repeat(32)
  const state = { bytes: 25e6, failed: null, verificationFailed: null, verifiedAt: new Date() }
  const check = (at: Date | null = new Date()) => checkBackups({ ...state, at }, { folder, secret })
  expect(await check(null)).toEqual(says('warning', 'копий нет'))
  const empty = await check()
  expect(empty).toEqual(says('broken', `в папке ${folder} нет ни одной копии`))
  expect(empty.fix).toContain(`vslukh backup ${folder}`)
  const file = join(folder, backupName(new Date()))
  await writeBackup(file, { migration: LAST_MIGRATION, secret }, async (writer) => {
    const part = await writer.addPart(Readable.from([randomBytes(2.5 * 1024 * 1024)]))
    return [{ table: 'posts', columns: ['id'], ...part }]
  })
  expect((await check()).message).toContain('сделана сегодня, 2,5 МиБ')
  const old = new Date(Date.now() - 5 * 86_400_000)
  await utimes(file, old, old)
  expect((await check()).message).toContain('сделана сегодня')
  await rm(file)
  // Copied today: its own time counts.
  const copied = join(folder, backupName(old))
  await writeBackup(copied, {
    ...{ migration: LAST_MIGRATION, secret },
    createdAt: old.toISOString(),
  })
  expect(await check()).toEqual(says('broken', /5 дн\. назад/))
  await rm(copied)

  await writeFile(file, randomBytes(100))
  expect(await check()).toEqual(says('broken', 'не копия стены'))
  await rm(file)
  await writeBackup(file, { migration: '999-next', version: '9.0.0', secret })
  expect(await check()).toEqual(says('broken', /9\.0\.0/))
  const createdAt = '2099-01-01T00:00:00.000Z'
  const future = join(folder, backupName(new Date(createdAt)))
  await writeBackup(future, { migration: LAST_MIGRATION, createdAt, secret })
  expect(await check()).toEqual(says('broken', 'в будущем: 01.01.2099'))

  await rm(folder, { recursive: true })
  const missing = await check()
  expect(missing).toEqual(says('broken', folder))
  expect(missing.fix).toContain('BACKUP_DIR')
})

test('of walls that share BACKUP_DIR, each is judged by its own newest backup', async () => {
  const folder = await folderForTest()
  const secret = 's'.repeat(32)
  const at = new Date(Date.now() - 5 * 86_400_000)
  const state = { bytes: 0, failed: null, verificationFailed: null, verifiedAt: new Date() }
  const write = async (createdAt: Date, manifest: Partial<Manifest>) => {
    const file = join(folder, backupName(createdAt))
    const facts = { migration: LAST_MIGRATION, createdAt: createdAt.toISOString(), ...manifest }
    await writeBackup(file, facts)
    return (await stat(file)).size
  }
  await write(new Date(), { secret: 'o'.repeat(32), migration: '999-next' })
  expect(await checkBackups({ ...state, at }, { folder, secret })).toEqual(
    says('broken', `в папке ${folder} нет ни одной копии этой стены`),
  )
  // The last backup counts without its secret too.
  const bytes = await write(at, { secret: null })
  expect(await checkBackups({ ...state, bytes, at }, { folder, secret })).toEqual(
    says('broken', /5 дн\. назад/),
  )
  await write(new Date(Date.now() - 1000), { secret })
  expect(await checkBackups({ ...state, bytes, at }, { folder, secret })).toEqual(
    says('ok', 'сделана сегодня'),
  )
})

test('a secret that others may read, pages that cannot be read, and nodes of two versions are named', async () => {
  const folder = await folderForTest()
  const config = readConfig({ DATA_DIR: folder })
  const secret = join(folder, 'app-secret')
  await writeFile(secret, SECRET, { mode: 0o600 })
  expect(await checkSecret(app.db, config)).toMatchObject({ level: 'ok' })
  await chmod(secret, 0o644)
  const fix = `chmod 600 ${secret}`
  expect(await checkSecret(app.db, config)).toMatchObject({ level: 'warning', fix })

  expect(await checkPages(config)).toMatchObject({ level: 'ok' })
  await mkdir(join(folder, 'pages/privacy.md'), { recursive: true })
  await writeFile(join(folder, 'pages/rules.md'), '{{OPERATOR_NAM}}, {{CONTACT_EMAIL}}')
  const faults =
    /rules\.md: поля {{OPERATOR_NAM}} нет; privacy\.md не читается: это папка, а нужен файл/
  expect(await checkPages(config)).toEqual(says('broken', faults))

  const checked = async () => checkNodes(await selectDatabaseFacts(app.db))
  expect(await checked()).toBe(undefined)
  await clientForTest(app.databaseUrl, `${FEED_NAME}0.9.0`)
  // The app's own feed may connect after it.
  await expect.poll(checked).toEqual(says('warning', `0.9.0, ${productVersion()}`))
})

test('an outdated PostgreSQL or Node is named with its month and the way to upgrade this installation', () => {
  const now = new Date('2026-11-26')
  const embedded = { postgres: '18.4', node: '26.10.0', isEmbedded: true }
  const old = /PostgreSQL 18\.4 из мая 2026, Node 26\.10\.0 из сентября 2026$/
  expect(checkParts(embedded, now)).toEqual(says('warning', old))
  expect(checkParts(embedded, now).fix).toMatch(/PostgreSQL системы.*Node 26/)
  const own = { postgres: '15.18 (Debian 15.18-0+deb12u1)', node: '26.12.1', isEmbedded: false }
  expect(checkParts(own, now)).toEqual(says('warning', /: PostgreSQL 15\.18 из мая 2026$/))
  expect(checkParts(own, now).fix).toContain('apt upgrade')
  const newest = { ...own, postgres: '15.20' }
  expect(checkParts(newest, now)).toEqual(says('ok', ''))
  // Nothing newer was known to this release, so for half a year nothing newer is claimed to exist.
  const later = { ...newest, postgres: '15.21' }
  expect(checkParts(later, new Date('2027-03-20'))).toEqual(says('ok', ''))
  const muchLater = checkParts(later, new Date('2027-04-20'))
  expect(muchLater).toEqual(says('warning', 'Node 26\\.12\\.1 из октября 2026'))
  expect(muchLater.fix).toContain('новый выпуск')
})

test('a missing or foreign certificate is one sentence with the port, the record and the journal to read, for the doctor and for setup', async () => {
  const { key, cert } = await certificateForTest(2)
  const end: RequestListener = (_, response) => response.end()
  for (const [server, message] of [
    [createHttpsServer({}, end), /нет сертификата для этого имени$/],
    [createHttpServer(end), /отвечают без TLS$/],
    [createHttpsServer({ key, cert }, end), /подписан самим сервером/],
  ] as const) {
    onTestFinished(() => void server.close())
    const origin = `https://localhost:${await listen(server)}`
    const site = { publicUrl: origin, port: 1, trustProxy: [] }
    const [found] = await checkSite(site, {})
    expect(found).toEqual(says('broken', message))
    const reason = await awaitAnswer(origin, {
      seconds: 0,
      gaveUp: async () => true,
      onWait: () => {},
    })
    const told = explainHttps(origin, { code: reason, message: reason ?? '' })
    expect(told).toMatchObject({ message: found?.message, fix: found?.fix })
    expect(found?.fix).toMatch(/запись A имени localhost.*порты 80 и \d+.*journalctl/)
    expect(`${found?.message} ${found?.fix}`).not.toMatch(/ssl|openssl|0A000|alert|ERR_/i)
  }
})

test('a finding is one line, even if a server’s reply has several', () => {
  const refused = broken('554-no entry\r\n554 go away', 'Спросите его владельца')
  expect(resultLine(refused)).toBe('✗ 554-no entry 554 go away. Спросите его владельца.')
})

test('changed rate limits and public metrics are warned of', async () => {
  const check = (env: object) => checkSettings(readConfig({ METRICS_PORT: '9464', ...env }))
  expect(await check({ METRICS_HOST: '10.0.0.7' })).toEqual(says('ok', ''))
  const open = await check({ METRICS_HOST: '::', RATE_LIMIT_SCALE: '1000' })
  expect(open).toEqual(says('warning', /RATE_LIMIT_SCALE=1000.*METRICS_HOST=::/))
})

test('a backup that is fresh and verified is well; one that failed, is old, missing or unverified is not', () => {
  const march = (day: string) => new Date(`2026-03-${day}T03:30:00Z`)
  const well = { bytes: 25e6, failed: null, verificationFailed: null, verifiedAt: march('28') }
  for (const [change, finding] of [
    [{}, says('ok', /^последняя копия сделана сегодня, 23 МиБ, копии проверяются$/)],
    [{ at: march('29') }, says('ok', 'сделана вчера')],
    [{ at: march('27') }, says('broken', /сделана 3 дн\. назад/)],
    [{ failed: 'на диске не осталось места' }, says('broken', '')],
    [{ verificationFailed: 'Копия неверна' }, says('broken', '')],
    [{ at: null }, says('warning', '')],
    [{ verifiedAt: null }, says('warning', 'давно не проверялись')],
    [{ verifiedAt: null, since: march('01') }, says('warning', 'давно не проверялись')],
    [{ verifiedAt: null, since: march('29') }, says('ok', 'первая проверка копий впереди')],
    [{ verifiedAt: march('01') }, says('warning', '')],
  ] as const) {
    const backup = { ...well, at: march('30'), ...change }
    expect(checkBackup(backup, march('30')), JSON.stringify(change)).toEqual(finding)
  }
})

test('a former address must lead to the new one, path by path; what does not, or does not answer, is a fault', async () => {
  const publicUrl = 'https://new.example'
  const serveFormer = async (listener: RequestListener) => {
    const server = createHttpServer(listener)
    onTestFinished(() => void server.close())
    return `http://localhost:${await listen(server)}`
  }
  const check = (...formerUrls: string[]) => checkFormerUrls({ publicUrl, formerUrls })
  const redirect = (status: number, to: (path?: string) => string) =>
    serveFormer(({ url }, response) => response.writeHead(status, { location: to(url) }).end())
  const kept = await redirect(301, (path) => publicUrl + path)
  expect(await check(kept, await redirect(308, (path) => publicUrl + path))).toMatchObject({
    level: 'ok',
  })
  const isFault = (message: RegExp) => says('broken', message)
  const toFront = await redirect(301, () => publicUrl)
  expect(await check(kept, toFront)).toEqual(isFault(/ведёт на https:\/\/new\.example$/))
  expect(await check(await redirect(302, (path) => publicUrl + path))).toEqual(isFault(/ведёт на/))
  const other = await serveFormer((_, response) => response.end('Домен продаётся'))
  expect(await check(other)).toEqual(isFault(/отвечает 200 и никуда не ведёт/))
  const away = `http://localhost:${await freePort()}`
  const { fix, message } = (await check(away)) ?? {}
  expect(message).toContain(`прежний адрес ${away} не отвечает`)
  expect(fix).toContain('FORMER_URLS')
  expect(await check()).toBe(undefined)
})

test('indexes that were made with another version of the collation are a fault, which the named commands mend', async () => {
  expect(checkCollation(await selectDatabaseFacts(app.db))?.level ?? 'ok').toBe('ok')
  const name = `test_icu_${randomBytes(6).toString('hex')}`
  const options = `TEMPLATE template0 ENCODING 'UTF8' LOCALE_PROVIDER icu ICU_LOCALE 'ru' LOCALE 'C'`
  await executeOn(app.databaseUrl, `CREATE DATABASE ${name} ${options}`)
  onTestFinished(async () => {
    await executeOn(app.databaseUrl, `DROP DATABASE ${name} WITH (FORCE)`)
  })
  const url = withDatabase(app.databaseUrl, name)
  await migrate(url)
  await using db = openDatabase(url, () => {}).db
  const check = async () => checkCollation(await selectDatabaseFacts(db))
  expect(await check()).toMatchObject({ level: 'ok' })
  const older = `UPDATE pg_database SET datcollversion = '1.0' WHERE datname = '${name}'`
  await executeOn(asSuperuser(app.databaseUrl), older)
  const found = await check()
  expect(found).toEqual(says('broken', /сортирует буквы по версии .*, а индексы .* по 1\.0/))
  expect(found && resultLine(found)).toMatch(/REFRESH COLLATION VERSION;$/)
  const [, commands = ''] = /vslukh psql: (.*)$/.exec(found?.fix ?? '') ?? []
  for (const statement of commands.split(/(?<=;) /)) await executeOn(url, statement)
  expect(await check()).toMatchObject({ level: 'ok' })
})
