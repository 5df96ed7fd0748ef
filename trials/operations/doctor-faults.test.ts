import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { emptyDatabase } from '../../server/testing/database/backups.ts'
import { databaseForTest } from '../../server/testing/database/database-for-test.ts'
import { executeOn } from '../../server/testing/database/databases.ts'
import { shiftedClock } from '../../server/testing/database/shifted-clock.ts'
import {
  APP_SECRET,
  type Env,
  examine,
  proxyTo,
  serve,
  startWall,
} from '../../server/testing/examined-wall.ts'
import { certificateForTest } from '../../server/testing/http/certificate.ts'
import { mailboxForTest } from '../../server/testing/mail/mailbox.ts'
import { isRoot } from '../../server/testing/process/debian-package.ts'
import { folderForTest, mountForTest } from '../../server/testing/process/folder-for-test.ts'
import { freePort } from '../../server/testing/process/free-port.ts'

/** The password in every address that has one. */
const PASSWORD = 'hunter2'
const HEALTHY =
  'settings,pages,versions,release,parts,database,collation,connections,clock,public url,certificate,proxy,ready,smtp,mail domain,mails,refused mails,backup disk,backup,counters,jobs,open,secret'
const WAIT = { timeout: 40_000, interval: 200 }
const PRINTING = { SMTP_URL: '', MAIL_MODE: 'print' }

type Wall = Awaited<ReturnType<typeof startWall>>

/**
 * Faults around a healthy wall: the finding (check, level, message, fix), and a function that
 * returns the variables that differ.
 */
const AROUND: [RegExp, (wall: Wall) => Env | Promise<Env>][] = [
  [/^settings broken: PORT: .*→.*Исправьте/, () => ({ PORT: 'abc' })],
  [/^settings warning: .*REPORT_TO_HIDE нет.*→.*REPORTS_TO_HIDE/, () => ({ REPORT_TO_HIDE: '5' })],
  [
    /^database broken: .*не отвечает.*→.*работает ли.*DATABASE_URL/,
    async () => ({ DATABASE_URL: `postgres://x:${PASSWORD}@127.0.0.1:${await freePort()}/x` }),
  ],
  [
    /^database broken: .*сервер.*→.*DATABASE_URL/,
    async () => ({ DATABASE_URL: await emptyDatabase() }),
  ],
  [/^database broken: .*другой версии.*→.*DATABASE_URL/, migratedLater],
  [
    /^database broken: .*нет базы данных.*Укажите.*→.*DATA_DIR/,
    async () => ({ DATABASE_URL: '', DATA_DIR: await folderForTest() }),
  ],
  [/^clock broken: .*спешат на 1[12]\d с.*→.*timedatectl/, () => shiftedBy(120)],
  [/^clock warning: .*отстают на [23]\d с.*→.*timedatectl/, () => shiftedBy(-30)],
  [
    /^secret broken: .*не подходит.*→.*ACCEPT_NEW_SECRET/,
    () => ({ APP_SECRET: `${PASSWORD}${'t'.repeat(32)}` }),
  ],
  [/^public url broken: .*не этот сервер.*→.*PUBLIC_URL.*прокси/, withAnotherServer],
  [
    /^public url broken: .*ECONNREFUSED.*→.*Запустите.*запись DNS.*порт/,
    async () => ({ PUBLIC_URL: `https://localhost:${await freePort()}` }),
  ],
  [/^certificate broken: .*срок истёк.*→.*запись A.*порты 80.*journalctl/, withExpired],
  [
    /^certificate broken: .*подписан самим сервером.*→.*запись A.*порты 80.*journalctl/,
    () => ({ NODE_EXTRA_CA_CERTS: '' }),
  ],
  [/^certificate warning: .*ещё 4 дн.*→.*journalctl -u caddy/, withFiveDays],
  [
    /^proxy broken: .*прокси 127\.0\.0\.2 передаёт.*→.*TRUST_PROXY=127\.0\.0\.1,127\.0\.0\.2/,
    (wall) => behindProxy(wall, { localAddress: '127.0.0.2' }),
  ],
  [
    /^proxy broken: .*не передаёт X-Forw.*→.*Behind a proxy/,
    (wall) => behindProxy(wall, { isSilent: true }),
  ],
  [/^smtp broken: .*535 5\.7\.8.*→.*имя и пароль/, withRefusedPassword],
  [
    /^disk broken: .*nowhere не открывается.*→.*Проверьте DATA_DIR/,
    () => ({ ...PRINTING, DATA_DIR: '/nowhere' }),
  ],
]

/** Only root may mount disks. */
const AROUND_ROOT: typeof AROUND = [
  [
    /^disk broken: .*свободно 8 МиБ.*→.*Освободите/,
    async () => ({ ...PRINTING, DATA_DIR: await smallDisk(40) }),
  ],
  [
    /^disk warning: .*свободно 48 МиБ.*→.*Освободите/,
    async () => ({ ...PRINTING, DATA_DIR: await smallDisk(0) }),
  ],
  [
    /^backup disk broken: .*свободно 8 МиБ.*→.*BACKUP_DIR/,
    async () => ({ BACKUP_DIR: await smallDisk(40) }),
  ],
]

/** Faults in the wall's database, one after another: none of them changes a later finding. */
const WITHIN: [RegExp, statement: string][] = [
  [
    /^counters warning: .*9 дн\. назад.*→.*vslukh recount/,
    `UPDATE installation SET counters_checked_at = now() - interval '9 days'`,
  ],
  [
    /^jobs broken: .*опоздали 1.*gone-task.*→.*журнале/,
    `SELECT graphile_worker.add_job('gone-task', job_key => 'gone',
      run_at => now() - interval '1 hour', max_attempts => 1)`,
  ],
  [
    /^jobs broken: .*брошены 1.*gone-task.*→.*журнале/,
    `UPDATE graphile_worker._private_jobs SET attempts = 1 WHERE key = 'gone'`,
  ],
]

async function migratedLater(): Promise<Env> {
  const DATABASE_URL = await databaseForTest()
  const later = `UPDATE kysely_migration SET name = '999' WHERE name = '001-schema'`
  await executeOn(DATABASE_URL, later)
  return { DATABASE_URL }
}

async function withAnotherServer({ certificate }: Wall): Promise<Env> {
  return { PUBLIC_URL: await serve((_, response) => response.end('hello'), certificate) }
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

async function behindProxy(wall: Wall, how: Parameters<typeof proxyTo>[1]): Promise<Env> {
  return { PUBLIC_URL: await serve(proxyTo(wall.target, how), wall.certificate) }
}

async function withRefusedPassword(): Promise<Env> {
  const refusal = { code: 535, words: '5.7.8 wrong', at: 'login' } as const
  const { port } = await mailboxForTest(0, { refusal })
  return { SMTP_URL: `smtp://wall:${PASSWORD}@127.0.0.1:${port}` }
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

/** Expects this finding of the doctor with these variables, its exit code, and no secret. */
async function expectFound(env: Env, expected: RegExp): Promise<void> {
  let examined: Awaited<ReturnType<typeof examine>> | undefined
  const findings = async () => {
    examined = await examine(env)
    return Object.values(examined.found).map(
      ({ check, level, message, fix }) => `${check} ${level}: ${message} → ${fix}`,
    )
  }
  await expect.poll(findings, WAIT).toContainEqual(expect.stringMatching(expected))
  const { code, found = {}, printed } = examined ?? {}
  const isBroken = Object.values(found).some(({ level }) => level === 'broken')
  expect(code, String(expected)).toBe(isBroken ? 1 : 0)
  expect(printed).not.toContain(PASSWORD)
  expect(printed).not.toContain(APP_SECRET)
}

const FAULTS = isRoot ? [...AROUND, ...AROUND_ROOT] : AROUND

test(`the doctor lists every check of a healthy wall in order, and reports each of ${FAULTS.length + WITHIN.length} faults with its fix, and no secret`, async () => {
  const BACKUP_DIR = join(await folderForTest(), 'backups')
  await mkdir(BACKUP_DIR)
  const wall = await startWall({ BACKUP_DIR })
  const { DATABASE_URL = '' } = wall.env
  const address = new URL(DATABASE_URL)
  address.password = PASSWORD
  const env = { ...wall.env, DATABASE_URL: address.href }
  const { code, found } = await examine(env)
  expect(Object.keys(found).join()).toBe(HEALTHY)
  const broken = Object.values(found).filter(({ level }) => level === 'broken')
  expect({ code, broken }).toEqual({ code: 0, broken: [] })
  expect(found.certificate?.message).toMatch(/ещё 89 дн/)
  for (let first = 0; first < FAULTS.length; first += 3) {
    await Promise.all(
      FAULTS.slice(first, first + 3).map(async ([expected, change]) => {
        await expectFound({ ...env, ...(await change(wall)) }, expected)
      }),
    )
  }
  for (const [expected, statement] of WITHIN) {
    await executeOn(DATABASE_URL, statement)
    await expectFound(env, expected)
  }
})
