import { mkdir, readdir, rename, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Finding } from '../../server/operations/doctor/finding.ts'
import { emptyDatabase } from '../../server/testing/backups.ts'
import { certificateForTest } from '../../server/testing/certificate.ts'
import { DEVICE } from '../../server/testing/client.ts'
import { databaseForTest } from '../../server/testing/database-for-test.ts'
import { asSuperuser, executeOn, withDatabase } from '../../server/testing/databases.ts'
import { isRoot } from '../../server/testing/debian-package.ts'
import {
  APP_SECRET,
  type Env,
  examine,
  proxyTo,
  serve,
  startWall as startAnyWall,
} from '../../server/testing/examined-wall.ts'
import { folderForTest, mountForTest } from '../../server/testing/folder-for-test.ts'
import { freePort } from '../../server/testing/free-port.ts'
import { runCommand } from '../../server/testing/run-command.ts'
import { shiftedClock } from '../../server/testing/shifted-clock.ts'
import { openRefusingSmtp } from '../../server/testing/smtp-faults.ts'
import { expiredCertificate } from './broken-mail-servers.ts'

/** The password in every address that has one. */
const PASSWORD = 'hunter2'

type Wall = Awaited<ReturnType<typeof startWall>>
type Expected = { check: string; level: Finding['level']; message: RegExp; fix: RegExp }

async function startWall() {
  const folder = await folderForTest()
  const [BACKUP_DIR, away] = [join(folder, 'backups'), join(folder, 'away')]
  await mkdir(BACKUP_DIR)
  await mkdir(away)
  const wall = await startAnyWall({ BACKUP_DIR, BACKUP_COMMAND: `cp "$1" ${away}/` })
  const { DATABASE_URL = '', PUBLIC_URL = '', SMTP_URL = '' } = wall.env
  const address = new URL(DATABASE_URL)
  address.password = PASSWORD
  return {
    ...wall,
    env: { ...wall.env, PUBLIC_URL, SMTP_URL, DATABASE_URL: address.href },
    away,
    backups: BACKUP_DIR,
    query: (statement: string) => executeOn(DATABASE_URL, statement),
    superuser: withDatabase(asSuperuser(DATABASE_URL), address.pathname.slice(1)),
    async newest() {
      const names = (await readdir(BACKUP_DIR)).filter((name) => name.endsWith('.backup'))
      return join(BACKUP_DIR, names.sort().at(-1) ?? '')
    },
  }
}

/** Faults around a healthy wall. Each returns the variables that differ. */
const AROUND: [name: string, (wall: Wall) => Env | Promise<Env>, Expected][] = [
  [
    'a variable with a wrong value',
    () => ({ PORT: 'abc' }),
    { check: 'settings', level: 'broken', message: /^PORT: /, fix: /Исправьте/ },
  ],
  [
    'a misspelt variable',
    () => ({ REPORT_TO_HIDE: '5' }),
    { check: 'settings', level: 'warning', message: /REPORT_TO_HIDE нет/, fix: /REPORTS_TO_HIDE/ },
  ],
  [
    'a site without who answers for it',
    () => ({ OPERATOR_NAME: '' }),
    {
      check: 'settings',
      level: 'warning',
      message: /не указано: OPERATOR/,
      fix: /Задайте OPERATOR/,
    },
  ],
  [
    'a database server that does not answer',
    async () => ({ DATABASE_URL: `postgres://x:${PASSWORD}@127.0.0.1:${await freePort()}/x` }),
    {
      check: 'database',
      level: 'broken',
      message: /не отвечает/,
      fix: /работает ли.*DATABASE_URL/,
    },
  ],
  [
    'a database without tables',
    async () => ({ DATABASE_URL: await emptyDatabase() }),
    { check: 'database', level: 'broken', message: /сервер/, fix: /DATABASE_URL/ },
  ],
  [
    'a database that a newer version has migrated',
    async () => {
      const DATABASE_URL = await databaseForTest()
      await executeOn(
        DATABASE_URL,
        `UPDATE kysely_migration SET name = '999' WHERE name = '001-schema'`,
      )
      return { DATABASE_URL }
    },
    { check: 'database', level: 'broken', message: /другой версии/, fix: /DATABASE_URL/ },
  ],
  [
    'a DATA_DIR without a database',
    async () => ({ DATABASE_URL: '', DATA_DIR: await folderForTest() }),
    { check: 'database', level: 'broken', message: /нет базы данных.*Укажите/, fix: /DATA_DIR/ },
  ],
  [
    'a pooler that does not answer',
    async ({ env }) => ({
      DATABASE_DIRECT_URL: env.DATABASE_URL,
      DATABASE_URL: `postgres://x:${PASSWORD}@127.0.0.1:${await freePort()}/x`,
    }),
    { check: 'pooler', level: 'broken', message: /не отвечает/, fix: /PgBouncer/ },
  ],
  [
    'a clock two minutes ahead',
    () => shiftedBy(120),
    { check: 'clock', level: 'broken', message: /спешат на 1[12]\d с/, fix: /timedatectl/ },
  ],
  [
    'a clock half a minute behind',
    () => shiftedBy(-30),
    { check: 'clock', level: 'warning', message: /отстают на [23]\d с/, fix: /timedatectl/ },
  ],
  [
    'a secret that is not the wall’s',
    () => ({ APP_SECRET: `${PASSWORD}${'t'.repeat(32)}` }),
    { check: 'secret', level: 'broken', message: /не подходит/, fix: /ACCEPT_NEW_SECRET/ },
  ],
  [
    'a PUBLIC_URL where another server answers',
    async ({ certificate }) => ({ PUBLIC_URL: await serve(hello, certificate) }),
    { check: 'public url', level: 'broken', message: /не этот сервер/, fix: /PUBLIC_URL.*прокси/ },
  ],
  [
    'a PORT that another program has',
    async () => ({ PUBLIC_URL: '', PORT: new URL(await serve(hello)).port }),
    { check: 'public url', level: 'broken', message: /не этот сервер/, fix: /PUBLIC_URL/ },
  ],
  [
    'a PUBLIC_URL where nobody answers',
    async () => ({ PUBLIC_URL: `https://localhost:${await freePort()}` }),
    { check: 'public url', level: 'broken', message: /ECONNREFUSED/, fix: /Запустите.*порт/ },
  ],
  [
    'a name of PUBLIC_URL that the DNS does not know',
    () => ({ PUBLIC_URL: 'https://wall.invalid' }),
    { check: 'public url', level: 'broken', message: /не отвечает/, fix: /запись DNS/ },
  ],
  [
    'a certificate that has expired',
    async ({ target }) => {
      const expired = await expiredCertificate()
      return {
        PUBLIC_URL: await serve(proxyTo(target, {}), expired),
        NODE_EXTRA_CA_CERTS: expired.path,
      }
    },
    { check: 'certificate', level: 'broken', message: /expired/, fix: /Обновите/ },
  ],
  [
    'a certificate of another name',
    ({ env }) => ({ PUBLIC_URL: env.PUBLIC_URL.replace('localhost', '127.0.0.1') }),
    { check: 'certificate', level: 'broken', message: /IP: 127\.0\.0\.1/, fix: /сертификат/ },
  ],
  [
    'a certificate that nobody trusts',
    () => ({ NODE_EXTRA_CA_CERTS: '' }),
    { check: 'certificate', level: 'broken', message: /не годится: self-signed/, fix: /цепочкой/ },
  ],
  [
    'a certificate of five days',
    async ({ target }) => {
      const short = await certificateForTest(5)
      return {
        PUBLIC_URL: await serve(proxyTo(target, {}), short),
        NODE_EXTRA_CA_CERTS: short.path,
      }
    },
    { check: 'certificate', level: 'warning', message: /ещё 4 дн/, fix: /Обновите/ },
  ],
  [
    'a certificate that Caddy has not renewed',
    async ({ target }) => {
      const short = await certificateForTest(5)
      const proxied = proxyTo(target, {})
      const caddy: typeof proxied = (request, response) =>
        proxied(request, response.setHeader('server', 'Caddy'))
      return { PUBLIC_URL: await serve(caddy, short), NODE_EXTRA_CA_CERTS: short.path }
    },
    { check: 'certificate', level: 'warning', message: /ещё 4 дн/, fix: /journalctl -u caddy/ },
  ],
  [
    'a proxy that is not trusted',
    async ({ target, certificate }) => ({
      PUBLIC_URL: await serve(proxyTo(target, { localAddress: '127.0.0.2' }), certificate),
    }),
    {
      check: 'proxy',
      level: 'broken',
      message: /прокси 127\.0\.0\.2 передаёт/,
      fix: /TRUST_PROXY=127\.0\.0\.1,127\.0\.0\.2/,
    },
  ],
  [
    'a proxy that names nobody',
    async ({ target, certificate }) => ({
      PUBLIC_URL: await serve(proxyTo(target, { isSilent: true }), certificate),
    }),
    { check: 'proxy', level: 'broken', message: /не передаёт X-Forw/, fix: /Behind a proxy/ },
  ],
  [
    'a name of the mail server that the DNS does not know',
    () => ({ SMTP_URL: `smtp://wall:${PASSWORD}@mail.invalid`, MAIL_FROM: 'wall@mail.invalid' }),
    { check: 'smtp', level: 'broken', message: /mail\.invalid/, fix: /имя сервера в SMTP_URL/ },
  ],
  [
    'a password that the mail server refuses',
    async () => {
      const { port } = await openRefusingSmtp({ code: 535, words: '5.7.8 wrong', at: 'login' })
      return { SMTP_URL: `smtp://wall:${PASSWORD}@127.0.0.1:${port}` }
    },
    { check: 'smtp', level: 'broken', message: /535 5\.7\.8/, fix: /имя и пароль/ },
  ],
  [
    'TLS at a port of the mail server that has none',
    ({ env }) => ({ SMTP_URL: env.SMTP_URL.replace('smtp:', 'smtps:') }),
    { check: 'smtp', level: 'broken', message: /без TLS/, fix: /smtp:\/\/ вместо smtps/ },
  ],
  [
    'more mails than MAILS_PER_HOUR',
    async () => {
      const other = await startAnyWall({ MAILS_PER_HOUR: '1' })
      for (const name of ['olga', 'petr', 'anna'])
        await register(other.target, `${name}@example.org`)
      return other.env
    },
    { check: 'mails', level: 'broken', message: /исчерпаны/, fix: /увеличьте MAILS_PER_HOUR/ },
  ],
  [
    'a DATA_DIR that is gone',
    () => ({ ...PRINTING, DATA_DIR: '/nowhere' }),
    {
      check: 'disk',
      level: 'broken',
      message: /nowhere не открывается/,
      fix: /Проверьте DATA_DIR/,
    },
  ],
]

/** Only root may mount disks. */
const AROUND_ROOT: typeof AROUND = [
  [
    'a full disk',
    async () => ({ ...PRINTING, DATA_DIR: await smallDisk(40) }),
    { check: 'disk', level: 'broken', message: /свободно 8 МиБ/, fix: /Освободите/ },
  ],
  [
    'a disk that is nearly full',
    async () => ({ ...PRINTING, DATA_DIR: await smallDisk(0) }),
    { check: 'disk', level: 'warning', message: /свободно 48 МиБ/, fix: /Освободите/ },
  ],
  [
    'a full disk of the backups',
    async () => ({ BACKUP_DIR: await smallDisk(40) }),
    { check: 'backup disk', level: 'broken', message: /свободно 8 МиБ/, fix: /BACKUP_DIR/ },
  ],
]

const PRINTING = { SMTP_URL: '', MAIL_MODE: 'print' }

const BACK_UP = `SELECT graphile_worker.add_job('back-up')`
const COUNT = `SELECT graphile_worker.add_job('check-counters')`
const removeGoneTask = ({ query }: Wall) => query(`SELECT graphile_worker.remove_job('gone')`)
const addGoneTask = (wall: Wall) =>
  wall.query(`SELECT graphile_worker.add_job('gone-task', job_key => 'gone',
    run_at => now() - interval '1 hour', max_attempts => 1)`)

/** Faults in the wall itself, one after another, each with its repair. */
const WITHIN: [
  name: string,
  breaks: (wall: Wall) => Promise<unknown>,
  Expected,
  mends?: (wall: Wall) => Promise<unknown>,
][] = [
  [
    'a wall that was never backed up',
    async () => {},
    { check: 'backup', level: 'warning', message: /копий нет/, fix: /vslukh backup/ },
    async (wall) => {
      await wall.query(BACK_UP)
      await expectLevel(wall, 'backup', 'ok')
    },
  ],
  [
    'a backup that was cut off',
    async ({ newest }) => truncate(await newest(), 1000),
    { check: 'backup', level: 'broken', message: /изменён: в нём 1000 байт/, fix: /vslukh backup/ },
  ],
  [
    'a counter that differs from its rows',
    async ({ query }) => {
      await query('UPDATE wall_totals SET posts = posts + 3 WHERE slot = 5')
      await query(COUNT)
    },
    { check: 'counters', level: 'broken', message: /расхождений: 1/, fix: /vslukh recount/ },
  ],
  [
    'a backup that fails its verification',
    async ({ query }) => {
      await query(`UPDATE installation SET backup_verified_at = now() - interval '8 days'`)
      await query(BACK_UP)
    },
    { check: 'backup', level: 'broken', message: /не прошла проверку/, fix: /vslukh verify/ },
    async ({ query }) => {
      await query('UPDATE wall_totals SET posts = posts - 3 WHERE slot = 5')
      await query(COUNT)
    },
  ],
  [
    'a BACKUP_COMMAND that fails',
    async ({ query, away }) => {
      await rename(away, `${away}-gone`)
      await query(BACK_UP)
    },
    { check: 'backup command', level: 'broken', message: /код 1, cp: /, fix: /docs\/operations/ },
    async (wall) => {
      await rename(`${wall.away}-gone`, wall.away)
      await wall.query(BACK_UP)
      await expectLevel(wall, 'backup command', 'ok')
    },
  ],
  [
    'counters that nothing compares',
    ({ query }) => query(`UPDATE installation SET counters_checked_at = now() - interval '9 days'`),
    { check: 'counters', level: 'warning', message: /9 дн\. назад/, fix: /vslukh recount/ },
    ({ query }) => query('UPDATE installation SET counters_checked_at = now()'),
  ],
  [
    'a job that nobody runs',
    addGoneTask,
    { check: 'jobs', level: 'broken', message: /опоздали 1.*gone-task/, fix: /журнале/ },
    removeGoneTask,
  ],
  [
    'a job that was given up',
    async (wall) => {
      await addGoneTask(wall)
      await wall.query(`UPDATE graphile_worker._private_jobs SET attempts = 1 WHERE key = 'gone'`)
    },
    { check: 'jobs', level: 'broken', message: /брошены 1.*gone-task/, fix: /журнале/ },
    removeGoneTask,
  ],
  [
    'registrations that are closed',
    ({ env }) => runCommand(env, 'close', 'registrations', '--reason', 'Набег', '--yes'),
    { check: 'open', level: 'warning', message: /закрыта: Набег/, fix: /vslukh open registr/ },
    ({ env }) => runCommand(env, 'open', 'registrations', '--yes'),
  ],
  [
    'a server that cannot write',
    (wall) => setReadOnly(wall, 'on'),
    { check: 'ready', level: 'broken', message: /не может писать.*503/, fix: /журнале/ },
  ],
  [
    'a database for reading only',
    async () => {},
    {
      check: 'database',
      level: 'broken',
      message: /только для чтения/,
      fix: /default_transaction/,
    },
    (wall) => setReadOnly(wall, 'off'),
  ],
  [
    'a server that has stopped behind its proxy',
    ({ stop }) => stop(),
    { check: 'public url', level: 'broken', message: /не этот сервер/, fix: /прокси/ },
  ],
]

const hello: Parameters<typeof serve>[0] = (_, response) => response.writeHead(200).end('hello')

async function shiftedBy(seconds: number): Promise<Env> {
  const clock = await shiftedClock()
  await clock.shift(seconds)
  return clock.env
}

async function smallDisk(filledMib: number): Promise<string> {
  const folder = await folderForTest()
  await mountForTest(folder, 'size=48m')
  await writeFile(join(folder, 'filler'), Buffer.alloc(filledMib * 1024 * 1024, 1))
  return folder
}

async function register(target: string, email: string): Promise<void> {
  const { status } = await fetch(`${target}/api/v1/registrations`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, clientToken: 'one browser', device: DEVICE }),
  })
  expect(status).toBe(201)
}

/** Also ends the server's connections, because only new ones use the setting. */
async function setReadOnly({ superuser }: Wall, value: 'on' | 'off'): Promise<void> {
  const name = new URL(superuser).pathname.slice(1)
  const server = asSuperuser(superuser)
  await executeOn(server, `ALTER DATABASE ${name} SET default_transaction_read_only = ${value}`)
  await executeOn(
    server,
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = '${name}'`,
  )
}

const WAIT = { timeout: 40_000, interval: 200 }

const expectLevel = ({ env }: Wall, check: string, level: Finding['level']) =>
  expect.poll(async () => (await examine(env)).found[check]?.level, WAIT).toBe(level)

/** Expects this finding of the doctor with these variables, its exit code, and no secret. */
async function expectFound(
  env: Env,
  { check, ...expected }: Expected,
  name: string,
): Promise<void> {
  const { level, message, fix } = expected
  const words = { level, message: expect.stringMatching(message), fix: expect.stringMatching(fix) }
  let last: Awaited<ReturnType<typeof examine>> | undefined
  await expect
    .poll(
      async () => {
        last = await examine(env)
        return last.found[check]
      },
      { ...WAIT, message: name },
    )
    .toMatchObject(words)
  const isBroken = Object.values(last?.found ?? {}).some((finding) => finding.level === 'broken')
  expect(last?.code, name).toBe(isBroken ? 1 : 0)
  expect(last?.printed, name).not.toContain(PASSWORD)
  expect(last?.printed, name).not.toContain(APP_SECRET)
}

const FAULTS = isRoot ? [...AROUND, ...AROUND_ROOT] : AROUND

test(`the doctor reports each of ${FAULTS.length + WITHIN.length} faults with its fix, and no secret`, {
  timeout: 600_000,
}, async () => {
  const wall = await startWall()
  const { code, found } = await examine(wall.env)
  const broken = Object.values(found).filter(({ level }) => level === 'broken')
  expect({ code, broken }).toEqual({ code: 0, broken: [] })
  for (let first = 0; first < FAULTS.length; first += 3) {
    await Promise.all(
      FAULTS.slice(first, first + 3).map(async ([name, change, expected]) => {
        await expectFound({ ...wall.env, ...(await change(wall)) }, expected, name)
      }),
    )
  }
  for (const [name, breaks, expected, mends] of WITHIN) {
    await breaks(wall)
    await expectFound(wall.env, expected, name)
    await mends?.(wall)
  }
})
