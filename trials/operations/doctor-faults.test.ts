import { mkdir, readdir, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { emptyDatabase } from '../../server/testing/backups.ts'
import { certificateForTest } from '../../server/testing/certificate.ts'
import { databaseForTest } from '../../server/testing/database-for-test.ts'
import { executeOn } from '../../server/testing/databases.ts'
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
import { shiftedClock } from '../../server/testing/shifted-clock.ts'
import { openRefusingSmtp } from '../../server/testing/smtp-faults.ts'

/** The password in every address that has one. */
const PASSWORD = 'hunter2'
const HEALTHY =
  'settings,pages,versions,parts,database,clock,public url,certificate,proxy,ready,smtp,mail domain,mails,refused mails,backup disk,backup,counters,jobs,open,secret'

type Wall = Awaited<ReturnType<typeof startWall>>

async function startWall() {
  const BACKUP_DIR = join(await folderForTest(), 'backups')
  await mkdir(BACKUP_DIR)
  const wall = await startAnyWall({ BACKUP_DIR })
  const { DATABASE_URL = '' } = wall.env
  const address = new URL(DATABASE_URL)
  address.password = PASSWORD
  return {
    ...wall,
    env: { ...wall.env, DATABASE_URL: address.href },
    query: (statement: string) => executeOn(DATABASE_URL, statement),
    async newest() {
      const names = (await readdir(BACKUP_DIR)).filter((name) => name.endsWith('.backup'))
      return join(BACKUP_DIR, names.sort().at(-1) ?? '')
    },
  }
}

/** The check and its level, and a part of the message and of the fix. */
type Expected = [finding: string, message: RegExp, fix: RegExp]

/** Faults around a healthy wall. Each returns the variables that differ. */
const AROUND: [name: string, (wall: Wall) => Env | Promise<Env>, Expected][] = [
  ['a wrong value', () => ({ PORT: 'abc' }), ['settings broken', /^PORT: /, /Исправьте/]],
  [
    'a misspelt variable',
    () => ({ REPORT_TO_HIDE: '5' }),
    ['settings warning', /REPORT_TO_HIDE нет/, /REPORTS_TO_HIDE/],
  ],
  [
    'a database server that does not answer',
    async () => ({ DATABASE_URL: `postgres://x:${PASSWORD}@127.0.0.1:${await freePort()}/x` }),
    ['database broken', /не отвечает/, /работает ли.*DATABASE_URL/],
  ],
  [
    'a database without tables',
    async () => ({ DATABASE_URL: await emptyDatabase() }),
    ['database broken', /сервер/, /DATABASE_URL/],
  ],
  [
    'a database that a newer version has migrated',
    migratedLater,
    ['database broken', /другой версии/, /DATABASE_URL/],
  ],
  [
    'a DATA_DIR without a database',
    async () => ({ DATABASE_URL: '', DATA_DIR: await folderForTest() }),
    ['database broken', /нет базы данных.*Укажите/, /DATA_DIR/],
  ],
  ['a clock ahead', () => shiftedBy(120), ['clock broken', /спешат на 1[12]\d с/, /timedatectl/]],
  ['a clock behind', () => shiftedBy(-30), ['clock warning', /отстают на [23]\d с/, /timedatectl/]],
  [
    'a secret that is not the wall’s',
    () => ({ APP_SECRET: `${PASSWORD}${'t'.repeat(32)}` }),
    ['secret broken', /не подходит/, /ACCEPT_NEW_SECRET/],
  ],
  [
    'a PUBLIC_URL where another server answers',
    async ({ certificate }) => ({
      PUBLIC_URL: await serve((_, response) => response.writeHead(200).end('hello'), certificate),
    }),
    ['public url broken', /не этот сервер/, /PUBLIC_URL.*прокси/],
  ],
  [
    'a PUBLIC_URL where nobody answers',
    async () => ({ PUBLIC_URL: `https://localhost:${await freePort()}` }),
    ['public url broken', /ECONNREFUSED/, /Запустите.*запись DNS.*порт/],
  ],
  ['an expired certificate', withExpired, ['certificate broken', /expired/, /Обновите/]],
  [
    'a certificate that nobody trusts',
    () => ({ NODE_EXTRA_CA_CERTS: '' }),
    ['certificate broken', /не годится: self-signed/, /цепочкой/],
  ],
  ['a late renewal', withFiveDays, ['certificate warning', /ещё 4 дн/, /journalctl -u caddy/]],
  [
    'a proxy that is not trusted',
    async ({ target, certificate }) => ({
      PUBLIC_URL: await serve(proxyTo(target, { localAddress: '127.0.0.2' }), certificate),
    }),
    ['proxy broken', /прокси 127\.0\.0\.2 передаёт/, /TRUST_PROXY=127\.0\.0\.1,127\.0\.0\.2/],
  ],
  [
    'a proxy that names nobody',
    async ({ target, certificate }) => ({
      PUBLIC_URL: await serve(proxyTo(target, { isSilent: true }), certificate),
    }),
    ['proxy broken', /не передаёт X-Forw/, /Behind a proxy/],
  ],
  [
    'a password that the mail server refuses',
    async () => {
      const { port } = await openRefusingSmtp({ code: 535, words: '5.7.8 wrong', at: 'login' })
      return { SMTP_URL: `smtp://wall:${PASSWORD}@127.0.0.1:${port}` }
    },
    ['smtp broken', /535 5\.7\.8/, /имя и пароль/],
  ],
  [
    'a DATA_DIR that is gone',
    () => ({ ...PRINTING, DATA_DIR: '/nowhere' }),
    ['disk broken', /nowhere не открывается/, /Проверьте DATA_DIR/],
  ],
]

/** Only root may mount disks. */
const AROUND_ROOT: typeof AROUND = [
  [
    'a full disk',
    async () => ({ ...PRINTING, DATA_DIR: await smallDisk(40) }),
    ['disk broken', /свободно 8 МиБ/, /Освободите/],
  ],
  [
    'a disk that is nearly full',
    async () => ({ ...PRINTING, DATA_DIR: await smallDisk(0) }),
    ['disk warning', /свободно 48 МиБ/, /Освободите/],
  ],
  [
    'a full disk of the backups',
    async () => ({ BACKUP_DIR: await smallDisk(40) }),
    ['backup disk broken', /свободно 8 МиБ/, /BACKUP_DIR/],
  ],
]

const PRINTING = { SMTP_URL: '', MAIL_MODE: 'print' }

const addGoneTask = (wall: Wall) =>
  wall.query(`SELECT graphile_worker.add_job('gone-task', job_key => 'gone',
    run_at => now() - interval '1 hour', max_attempts => 1)`)
const giveUp = `UPDATE graphile_worker._private_jobs SET attempts = 1 WHERE key = 'gone'`
const forgetCheck = `UPDATE installation SET counters_checked_at = now() - interval '9 days'`

/** Faults in the wall itself, one after another; what one breaks changes no later finding. */
const WITHIN: [name: string, breaks: (wall: Wall) => Promise<unknown>, Expected][] = [
  ['a wall without a backup', async () => {}, ['backup warning', /копий нет/, /vslukh backup/]],
  ['a backup that was cut off', cutOff, ['backup broken', /изменён: в нём 1000 байт/, /vslukh b/]],
  [
    'counters that nothing compares',
    ({ query }) => query(forgetCheck),
    ['counters warning', /9 дн\. назад/, /vslukh recount/],
  ],
  ['a job that nobody runs', addGoneTask, ['jobs broken', /опоздали 1.*gone-task/, /журнале/]],
  [
    'a job that was given up',
    ({ query }) => query(giveUp),
    ['jobs broken', /брошены 1.*gone-task/, /журнале/],
  ],
]

async function migratedLater(): Promise<Env> {
  const DATABASE_URL = await databaseForTest()
  const later = `UPDATE kysely_migration SET name = '999' WHERE name = '001-schema'`
  await executeOn(DATABASE_URL, later)
  return { DATABASE_URL }
}

async function withExpired({ target }: Wall): Promise<Env> {
  const expired = await certificateForTest(10, await shiftedBy(-40 * 86_400))
  const PUBLIC_URL = await serve(proxyTo(target, {}), expired)
  return { PUBLIC_URL, NODE_EXTRA_CA_CERTS: expired.path }
}

async function withFiveDays({ target }: Wall): Promise<Env> {
  const short = await certificateForTest(5)
  const proxied = proxyTo(target, {})
  const caddy: typeof proxied = (request, response) =>
    proxied(request, response.setHeader('server', 'Caddy'))
  return { PUBLIC_URL: await serve(caddy, short), NODE_EXTRA_CA_CERTS: short.path }
}

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

async function cutOff({ query, env, newest }: Wall): Promise<void> {
  await query(`SELECT graphile_worker.add_job('back-up')`)
  await expect
    .poll(async () => (await examine(env)).found.backup?.message, WAIT)
    .toMatch(/сделана сегодня/)
  await truncate(await newest(), 1000)
}

const WAIT = { timeout: 40_000, interval: 200 }

/** Expects this finding of the doctor with these variables, its exit code, and no secret. */
async function expectFound(env: Env, name: string, [finding, message, fix]: Expected) {
  const [, check = '', level] = /^(.*) (\w+)$/.exec(finding) ?? []
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
  const isBroken = Object.values(last?.found ?? {}).some((one) => one.level === 'broken')
  expect(last?.code, name).toBe(isBroken ? 1 : 0)
  expect(last?.printed, name).not.toContain(PASSWORD)
  expect(last?.printed, name).not.toContain(APP_SECRET)
}

const FAULTS = isRoot ? [...AROUND, ...AROUND_ROOT] : AROUND

test(`the doctor lists every check of a healthy wall in order, and reports each of ${FAULTS.length + WITHIN.length} faults with its fix, and no secret`, async () => {
  const wall = await startWall()
  const { code, found } = await examine(wall.env)
  expect(Object.keys(found).join()).toBe(HEALTHY)
  const broken = Object.values(found).filter(({ level }) => level === 'broken')
  expect({ code, broken }).toEqual({ code: 0, broken: [] })
  expect(found.certificate?.message).toMatch(/ещё 89 дн/)
  for (let first = 0; first < FAULTS.length; first += 3) {
    await Promise.all(
      FAULTS.slice(first, first + 3).map(async ([name, change, expected]) => {
        await expectFound({ ...wall.env, ...(await change(wall)) }, name, expected)
      }),
    )
  }
  for (const [name, breaks, expected] of WITHIN) {
    await breaks(wall)
    await expectFound(wall.env, name, expected)
  }
})
