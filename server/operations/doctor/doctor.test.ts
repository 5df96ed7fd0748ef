import { spawn } from 'node:child_process'
import { Resolver } from 'node:dns/promises'
import { rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { readConfig } from '../../kernel/config/config.ts'
import { openDatabase } from '../../kernel/db/database.ts'
import { freeBytes } from '../../kernel/http/health.ts'
import { createLogger } from '../../kernel/log/logger.ts'
import { endChild, untilPrinted } from '../../testing/child-process.ts'
import { asSuperuser, executeOn, withDatabase } from '../../testing/databases.ts'
import { findProgram } from '../../testing/debian-package.ts'
import { folderForTest } from '../../testing/folder-for-test.ts'
import { freePort } from '../../testing/free-port.ts'
import { collectLog } from '../../testing/log-lines.ts'
import { appForTest } from '../../testing/test-app.ts'
import { backupName } from '../backup/backup-folder.ts'
import { checkBackup, checkBackups } from './backup-check.ts'
import { checkRights } from './database-checks.ts'
import { checkBackupDisk, checkDisk } from './disk-check.ts'
import { selectDailyGrowth, selectDatabaseFacts } from './doctor.repository.ts'
import { watchHealth } from './doctor.service.ts'
import { checkMailDomain } from './mail-checks.ts'

test('what breaks while the server runs is logged once, and once more when it is well again', async () => {
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

test('tables of another role, a superuser and the disks are named, and when they will be full', async () => {
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
})

/** Starts a DNS server that knows these TXT records. Resolves to a resolver that asks it. */
async function dnsForTest(records: Record<string, string>): Promise<Resolver> {
  const program = await findProgram(['/usr/sbin/dnsmasq'], {
    debianPackage: 'dnsmasq-base',
    advice: 'This test asks a DNS server of its own: install dnsmasq (Debian: dnsmasq-base)',
  })
  const port = await freePort()
  const texts = Object.entries(records).map(([name, text]) => `--txt-record=${name},${text}`)
  const place = ['--listen-address=127.0.0.1', '--bind-interfaces', `--port=${port}`]
  const own = ['--keep-in-foreground', '--conf-file=/dev/null', '--no-resolv', '--local=/test/']
  const server = spawn(program, [...own, '--log-facility=-', '--user=root', ...place, ...texts], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  onTestFinished(() => endChild(server))
  await untilPrinted(server, /./)
  const resolver = new Resolver({ timeout: 2000, tries: 1 })
  resolver.setServers([`127.0.0.1:${port}`])
  return resolver
}

test('the domain of MAIL_FROM with SPF, DMARC and DKIM is well; another key of DKIM and what is missing is named; a silent DNS is no fault', {
  timeout: 120_000,
}, async () => {
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

test('backups are judged by the files in BACKUP_DIR and not by what was noted: a missing or emptied folder and an old file are broken', async () => {
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
  await writeFile(file, Buffer.alloc(3 * 1024 * 1024))
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
