import { randomUUID } from 'node:crypto'
import { chmod, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { beforeEach, expect, inject, onTestFinished, test } from 'vitest'
import { databaseForTest } from '../../testing/database/database-for-test.ts'
import {
  asSuperuser,
  executeOn,
  setReadOnly,
  withDatabase,
} from '../../testing/database/databases.ts'
import { shiftedClock } from '../../testing/database/shifted-clock.ts'
import { DEVICE } from '../../testing/http/client.ts'
import { mailboxForTest } from '../../testing/mail/mailbox.ts'
import { asRoot, folderForTest, mountForTest } from '../../testing/process/folder-for-test.ts'
import { freePort, listen } from '../../testing/process/free-port.ts'
import { runHere } from '../../testing/process/run-command.ts'
import { startMain } from '../../testing/process/start-main.ts'
import { explainStartFailure, sentenceOfFailure } from './start-failure.ts'

const APP_SECRET = 's'.repeat(32)
const OTHER_SECRET = 't'.repeat(32)
const NOBODY = { uid: 65534 }

let root: string
let dataDir: string
beforeEach(async () => {
  root = await folderForTest()
  dataDir = join(root, 'data')
})

/** Starts the product and expects exit code 1 and nothing but one Russian sentence. Returns that. */
async function refusalOf(...start: Parameters<typeof startMain>): Promise<string> {
  const { code, stderr } = await startMain(...start)
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/^.*[а-яё]{3}.*\n$/) })
  return stderr
}

/** Starts the product, which must be ready, and stops it. Returns what it has printed. */
async function startAndStop(env: Record<string, string>): Promise<string> {
  const { code, stdout, stop } = await startMain(env)
  expect(code).toBeNull()
  await stop()
  return stdout
}

function onDatabase(url: string) {
  return { DATABASE_URL: url, APP_SECRET, DATA_DIR: dataDir }
}

test.each([
  ['PORT', { PORT: 'x' }],
  ['DKIM_KEY_FILE', { DKIM_KEY_FILE: '/nowhere', DKIM_SELECTOR: 'wall', MAIL_FROM: 'a@b.test' }],
])('a wrong %s ends the start with exit code 78: another would not help', async (name, env) => {
  const { code, stderr } = await startMain({ ...onDatabase(await databaseForTest()), ...env })
  expect({ code, stderr }).toEqual({ code: 78, stderr: expect.stringMatching(`^${name}: .*\n$`) })
})

test('a database that is missing, does not know the role, does not answer or is read-only is refused with a sentence', async () => {
  const [readOnly, foreign] = [await databaseForTest(), new URL(await databaseForTest())]
  await setReadOnly(readOnly, true)
  foreign.username = 'stranger'
  const missing = withDatabase(inject('databaseUrl'), 'no_such_wall')
  const silent = `postgres://vslukh@127.0.0.1:${await freePort()}/vslukh`
  for (const [url, sentence] of [
    [missing, /^DATABASE_URL: такой базы данных на сервере нет .*no_such_wall.*CREATE DATABASE/],
    [foreign.href, /^DATABASE_URL: .*не впускает эту роль .*stranger/],
    [silent, /^База данных не отвечает: там ничего не запущено \(/],
    [readOnly, /^DATABASE_URL: .*только для чтения/],
  ] as const) {
    expect(await refusalOf(onDatabase(url))).toMatch(sentence)
  }
})

test.each([
  ['before the first start', 'template0'],
  ['that another role has migrated', 'vslukh_template'],
])('a role without rights on the database %s is told how to get them', async (_when, template) => {
  const server = asSuperuser(inject('databaseUrl'))
  const name = `rights_${process.pid}_${template}`
  await executeOn(server, `CREATE ROLE ${name} LOGIN`)
  await executeOn(server, `CREATE DATABASE ${name} TEMPLATE ${template}`)
  onTestFinished(async () => {
    await executeOn(server, `DROP DATABASE ${name} WITH (FORCE)`)
    await executeOn(server, `DROP ROLE ${name}`)
  })
  const url = new URL(withDatabase(inject('databaseUrl'), name))
  url.username = name
  const stderr = await refusalOf(onDatabase(url.href))
  expect(stderr).toMatch(/^DATABASE_URL: у роли не хватает прав .*OWNER TO/)
})

test('an error of a file is called one, and not a database that does not answer', async () => {
  const explain = (work: Promise<unknown>) => work.then(() => '', explainStartFailure)
  const none = join(root, 'none')
  expect(await explain(readFile(none))).toBe(`${none}: такого файла или папки нет`)
  expect(await explain(readFile(root))).toContain('папка, а нужен файл')
  expect(await explain(readFile(join(root, 'x'.repeat(300))))).toContain('xx: имя слишком длинное')
  expect(await explain(writeFile('/dev/full', 'x'))).toMatch(/^Файл не записан: на диске/)
  const socket = await explain(executeOn(`postgresql://x@/x?host=${root}`, 'SELECT 1'))
  expect(socket).toMatch(/^База данных не отвечает: там ничего не запущено \(/)
  for (const [code, message, sentence] of [
    ['57P01', 'terminating connection due to administrator command', /: соединение оборвалось \(/],
    ['', 'Connection terminated unexpectedly', /: соединение оборвалось \(/],
    ['', 'timeout exceeded when trying to connect', /: время ожидания вышло \(/],
    // Of an address with several IP addresses only the code is known.
    ['ECONNREFUSED', '', /: там ничего не запущено \(ECONNREFUSED\)$/],
    ['53300', 'sorry, too many clients already', /^Все соединения базы данных заняты /],
    ['40P01', 'deadlock detected', /^База данных занята другой работой .*повторите$/],
    ['55P03', 'canceling statement due to lock timeout', /^База данных занята /],
    ['57014', 'canceling statement due to statement timeout', /^База данных прервала запрос /],
  ] as const) {
    expect(explainStartFailure(Object.assign(new Error(message), { code }))).toMatch(sentence)
  }
  expect(sentenceOfFailure(new TypeError('x is not a function'))).toBe('«x is not a function»')
})

test('a PostgreSQL that says it is too old is refused by the start and by a restore, with the version that is needed', async () => {
  const url = await databaseForTest()
  const name = new URL(url).pathname.slice(1)
  // The version that the server reports is overridden for this database.
  await executeOn(
    url,
    `CREATE FUNCTION current_setting(text) RETURNS text LANGUAGE sql AS $$SELECT '140023'$$`,
  )
  await executeOn(url, `ALTER DATABASE ${name} SET search_path = public, pg_catalog`)
  const sentence = await refusalOf(onDatabase(url))
  expect(sentence).toMatch(/^DATABASE_URL: там PostgreSQL 14, а нужна 15/)
  const restored = await runHere(onDatabase(url), ['restore', join(root, 'any.backup')])
  expect(restored).toMatchObject({ code: 1, err: sentence })
})

/** Creates a database with these options, and a role that owns it. Returns the role's URL. */
async function ownDatabase(options: { database?: string; role?: string }): Promise<string> {
  const server = asSuperuser(inject('databaseUrl'))
  const name = `own_${randomUUID().replaceAll('-', '')}`
  await executeOn(server, `CREATE ROLE ${name} LOGIN ${options.role ?? ''}`)
  await executeOn(
    server,
    `CREATE DATABASE ${name} OWNER ${name} TEMPLATE template0 ${options.database ?? ''}`,
  )
  onTestFinished(async () => {
    await executeOn(server, `DROP DATABASE ${name} WITH (FORCE)`)
    await executeOn(server, `DROP ROLE ${name}`)
  })
  const url = new URL(withDatabase(inject('databaseUrl'), name))
  url.username = name
  return url.href
}

test.each(['SQL_ASCII', 'WIN1251', 'LATIN1'])(
  'a database in %s is refused by the start and by a restore, with the statement that creates another',
  async (encoding) => {
    const database = `ENCODING '${encoding}' LOCALE_PROVIDER libc LOCALE 'C'`
    const url = await ownDatabase({ database })
    const sentence = await refusalOf(onDatabase(url))
    expect(sentence).toMatch(
      new RegExp(`^DATABASE_URL: .*кодировке ${encoding}, а нужна UTF8.*CREATE DATABASE .*UTF8`),
    )
    const restored = await runHere(onDatabase(url), ['restore', join(root, 'any.backup')])
    expect(restored).toMatchObject({ code: 1, err: sentence })
  },
)

test('a database without triggers is refused, with the statement that turns them on', async () => {
  const url = await ownDatabase({})
  const { username } = new URL(url)
  const off = `ALTER ROLE ${username} SET session_replication_role = replica`
  await executeOn(asSuperuser(url), off)
  const sentence = await refusalOf(onDatabase(url))
  expect(sentence).toMatch(/^DATABASE_URL: триггеры .* выключены .*RESET session_replication_role/)
})

test.each(['nowhere', `''`])(
  'a search_path %s that leads to no schema is refused by the start and by a restore, with the statement that resets it',
  async (path) => {
    const url = await ownDatabase({})
    const { username } = new URL(url)
    await executeOn(asSuperuser(url), `ALTER ROLE ${username} SET search_path = ${path}`)
    const sentence = await refusalOf(onDatabase(url))
    expect(sentence).toMatch(/^DATABASE_URL: search_path .* не называет ни одной схемы/)
    expect(sentence).toContain(`ALTER ROLE ${username} RESET search_path`)
    const restored = await runHere(onDatabase(url), ['restore', join(root, 'any.backup')])
    expect(restored).toMatchObject({ code: 1, err: sentence })
  },
)

test.each([
  ['role', 'ALTER ROLE'],
  ['database', 'ALTER DATABASE'],
])(
  'a %s with too few connections is refused, with the number that is needed; with enough of them to start, the node is told how many it lacks, serves, and mails codes',
  async (kind, statement) => {
    const url = await ownDatabase({ [kind]: 'CONNECTION LIMIT 9' })
    const name = new URL(url).username
    const fix = `${statement} ${name} CONNECTION LIMIT 32`
    const sentence = await refusalOf(onDatabase(url))
    expect(sentence).toMatch(
      /^DATABASE_URL: соединений .* разрешено 9, а узлу нужно 32, и не меньше 10/,
    )
    expect(sentence).toContain(fix)

    await executeOn(asSuperuser(url), `${statement} ${name} CONNECTION LIMIT 10`)
    const mailbox = await mailboxForTest()
    const node = await startMain({ ...onDatabase(url), SMTP_URL: mailbox.url })
    expect(node.stdout).toContain('разрешено 10, а узлу нужно 32')
    expect(node.stdout).toContain(fix)
    const answers = await Promise.all(
      Array.from({ length: 40 }, () => fetch(`${node.url}/api/v1/posts?page=99`)),
    )
    expect(answers.filter(({ status }) => status !== 200)).toEqual([])
    const body = JSON.stringify({
      email: 'olga@example.org',
      clientToken: 'x'.repeat(20),
      device: DEVICE,
    })
    const headers = { 'content-type': 'application/json' }
    await fetch(`${node.url}/api/v1/registrations`, { method: 'POST', headers, body })
    await mailbox.codeFor('olga@example.org')
    await node.stop()
  },
)

test.each(['PORT', 'METRICS_PORT'])(
  'a %s that is taken is refused, with the embedded database and with another one, which starts none',
  async (name) => {
    const holder = createServer()
    onTestFinished(() => void holder.close())
    const port = await listen(holder)
    const taken = { [name]: String(port) }
    const sentence = `${name}: 127.0.0.1:${port} уже занят другой программой. Задайте другой ${name}\n`
    expect(await refusalOf({ ...onDatabase(await databaseForTest()), ...taken })).toBe(sentence)
    expect(await readdir(dataDir)).not.toContain('postgres')
    expect(await refusalOf({ DATA_DIR: join(root, 'embedded'), ...taken })).toBe(sentence)
  },
)

test('DATA_DIR that is a file, or lies in one, is refused', async () => {
  const file = join(root, 'file')
  await writeFile(file, '')
  expect(await refusalOf({ DATA_DIR: file })).toMatch(/^DATA_DIR: .*файл уже есть/)
  expect(await refusalOf({ DATA_DIR: join(file, 'data') })).toMatch(/^DATA_DIR: .*нужна папка/)
})

asRoot.each([
  ['read-only', 'ro,size=1m', /^DATA_DIR: .*только для чтения/],
  ['small', 'size=1m', /^Не удалось создать .*освободите 100 МиБ или .*DATA_DIR$/m],
])('DATA_DIR on a %s disk is refused', async (_kind, options, sentence) => {
  await mountForTest(root, options)
  expect(await refusalOf({ DATA_DIR: root })).toMatch(sentence)
})

asRoot('DATA_DIR, or a database in it, of another user is refused', async () => {
  await chmod(root, 0o755)
  await mkdir(dataDir, { mode: 0o700 })
  expect(await refusalOf({ DATA_DIR: dataDir }, NOBODY)).toMatch(/^DATA_DIR: .*нет на это права/)

  await chmod(dataDir, 0o777)
  await mkdir(join(dataDir, 'postgres'), { mode: 0o700 })
  const stderr = await refusalOf({ DATA_DIR: dataDir }, NOBODY)
  expect(stderr).toMatch(/^База данных в .* принадлежит другому пользователю/)

  await rm(join(dataDir, 'postgres'), { recursive: true })
  await writeFile(join(dataDir, 'app-secret'), `${APP_SECRET}\n`, { mode: 0o600 })
  expect(await refusalOf({ DATA_DIR: dataDir }, NOBODY)).toMatch(/app-secret: .*нет на это права/)
})

test('a database of another major version of PostgreSQL is refused and left alone', async () => {
  const cluster = join(dataDir, 'postgres')
  await mkdir(cluster, { recursive: true })
  await writeFile(join(cluster, 'PG_VERSION'), '17\n')
  const stderr = await refusalOf({ DATA_DIR: dataDir })
  expect(stderr).toMatch(
    /создана PostgreSQL 17, а здесь PostgreSQL 18.*vslukh backup.*vslukh restore/,
  )
  expect(await readdir(dataDir)).toEqual(['postgres'])
  expect(await readdir(cluster)).toEqual(['PG_VERSION'])
})

test('a node with a different APP_SECRET is refused; with ACCEPT_NEW_SECRET it starts, and the old secret is refused from then on', async () => {
  const env = onDatabase(await databaseForTest())
  const other = { ...env, APP_SECRET: OTHER_SECRET }
  await startAndStop(env)
  const sentence = await refusalOf(other)
  expect(sentence).toMatch(/^APP_SECRET: .*с другим секретом.*ACCEPT_NEW_SECRET=1.*\n$/)
  expect(sentence).not.toContain(OTHER_SECRET)
  const said = await startAndStop({ ...other, ACCEPT_NEW_SECRET: '1' })
  expect(said).toContain('Новый APP_SECRET принят')
  await refusalOf(env)
})

test('two nodes make the first start at once with different secrets: one serves, the other is refused', async () => {
  const env = onDatabase(await databaseForTest())
  const nodes = [env, { ...env, APP_SECRET: OTHER_SECRET }].map((own) => startMain(own))
  expect((await Promise.all(nodes)).map(({ code }) => code).sort()).toEqual([1, null])
})

test('a secret, or a database, that is missing in DATA_DIR is refused and not replaced; without both it is a first start', async () => {
  const env = { DATA_DIR: dataDir }
  await startAndStop(env)
  const [secret, away] = [join(dataDir, 'app-secret'), join(root, 'app-secret')]
  await rename(secret, away)
  const lost = /^Секрет .*app-secret потерян.*ACCEPT_NEW_SECRET=1.*\n$/
  expect(await refusalOf(env)).toMatch(lost)
  await expect(readFile(secret)).rejects.toThrow('ENOENT')
  await startAndStop({ ...env, ACCEPT_NEW_SECRET: '1' })
  expect(await readFile(secret, 'utf8')).not.toBe(await readFile(away, 'utf8'))
  await rename(away, secret)
  await refusalOf(env)

  await rm(join(dataDir, 'postgres'), { recursive: true })
  const empty = /есть секрет \(app-secret\), но нет базы данных .*удалите app-secret.*\n$/
  expect(await refusalOf(env)).toMatch(empty)
  await rm(secret)
  await startAndStop(env)
}, 120_000)

test('a first start that was interrupted before it stored its secret, or its fingerprint, is completed by the next', async () => {
  const env = { DATA_DIR: dataDir }
  const started = await startMain(env)
  const socket = `postgresql://vslukh@localhost:5432/vslukh?host=${join(dataDir, 'postgres')}`
  await executeOn(socket, 'UPDATE installation SET secret_fingerprint = NULL')
  await started.stop()
  await rm(join(dataDir, 'app-secret'))
  await startAndStop(env)
  await writeFile(join(dataDir, 'app-secret'), `${OTHER_SECRET}\n`)
  await refusalOf(env)
})

test.each([
  ['ahead of', 120, 'спешат на 1'],
  ['behind', -120, 'отстают на 1'],
])('a clock two minutes %s the database’s is refused', async (_how, seconds, words) => {
  const clock = await shiftedClock()
  await clock.shift(seconds)
  const sentence = await refusalOf({ ...clock.env, ...onDatabase(await databaseForTest()) })
  expect(sentence).toContain(`Часы этой машины ${words}`)
  expect(sentence).toMatch(/^.*timedatectl.*\n$/)
})
