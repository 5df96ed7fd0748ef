import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { databaseForTest } from '../../testing/database/database-for-test.ts'
import { executeOn } from '../../testing/database/databases.ts'
import { shiftedClock } from '../../testing/database/shifted-clock.ts'
import { folderForTest } from '../../testing/process/folder-for-test.ts'
import { startMain } from '../../testing/process/start-main.ts'

const APP_SECRET = 's'.repeat(32)
const OTHER_SECRET = 't'.repeat(32)

let root: string
let DATA_DIR: string
beforeEach(async () => {
  root = await folderForTest()
  DATA_DIR = join(root, 'data')
})

async function startAndStop(env: Record<string, string>) {
  const started = await startMain(env)
  await started.stop()
  return started
}

test('a node with a different APP_SECRET is refused; with ACCEPT_NEW_SECRET it starts, and the old secret is refused from then on', async () => {
  const DATABASE_URL = await databaseForTest()
  const start = (secret: string, more = {}) =>
    startAndStop({ DATABASE_URL, DATA_DIR, APP_SECRET: secret, ...more })
  expect((await start(APP_SECRET)).code).toBeNull()

  const other = await start(OTHER_SECRET)
  expect(other.code).toBe(1)
  expect(other.stderr).toMatch(/^APP_SECRET: .*с другим секретом.*ACCEPT_NEW_SECRET=1.*\n$/)
  expect(other.stderr).not.toContain(OTHER_SECRET)

  const meant = await start(OTHER_SECRET, { ACCEPT_NEW_SECRET: '1' })
  expect(meant.code).toBeNull()
  expect(meant.stdout).toContain('Новый APP_SECRET принят')
  expect((await start(APP_SECRET)).code).toBe(1)
})

test('two nodes make the first start at once with different secrets: one serves, the other is refused', async () => {
  const DATABASE_URL = await databaseForTest()
  const started = await Promise.all(
    [APP_SECRET, OTHER_SECRET].map((secret) =>
      startMain({ DATABASE_URL, DATA_DIR, APP_SECRET: secret }),
    ),
  )
  expect(started.map(({ code }) => code).sort()).toEqual([1, null])
})

test('a secret, or a database, that is missing in DATA_DIR is refused and not replaced; without both it is a first start', async () => {
  const start = (env = {}) => startAndStop({ DATA_DIR, ...env })
  await start()
  const [secret, away] = [join(DATA_DIR, 'app-secret'), join(root, 'app-secret')]
  await rename(secret, away)
  const lost = await start()
  expect(lost.code).toBe(1)
  expect(lost.stderr).toMatch(/^Секрет .*app-secret потерян.*ACCEPT_NEW_SECRET=1.*\n$/)
  await expect(readFile(secret)).rejects.toThrow('ENOENT')
  expect((await start({ ACCEPT_NEW_SECRET: '1' })).code).toBeNull()
  expect(await readFile(secret, 'utf8')).not.toBe(await readFile(away, 'utf8'))
  await rename(away, secret)
  expect((await start()).code).toBe(1)

  await rm(join(DATA_DIR, 'postgres'), { recursive: true })
  const empty = await start()
  expect(empty.code).toBe(1)
  const sentence = /есть секрет \(app-secret\), но нет базы данных .*удалите app-secret.*\n$/
  expect(empty.stderr).toMatch(sentence)
  await rm(secret)
  expect((await start()).code).toBeNull()
}, 120_000)

test('a first start that was interrupted before it stored its secret, or its fingerprint, is completed by the next', async () => {
  const started = await startMain({ DATA_DIR })
  expect(started.code).toBeNull()
  await executeOn(socketUrl(DATA_DIR), 'UPDATE installation SET secret_fingerprint = NULL')
  await started.stop()
  await rm(join(DATA_DIR, 'app-secret'))
  expect((await startAndStop({ DATA_DIR })).code).toBeNull()
  await writeFile(join(DATA_DIR, 'app-secret'), `${OTHER_SECRET}\n`)
  expect((await startAndStop({ DATA_DIR })).code).toBe(1)
})

test.each([
  ['ahead of', 120, 'спешат на 1'],
  ['behind', -120, 'отстают на 1'],
])('a clock two minutes %s the database’s is refused', async (_how, seconds, words) => {
  const DATABASE_URL = await databaseForTest()
  const clock = await shiftedClock()
  await clock.shift(seconds)
  const { code, stderr } = await startMain({ ...clock.env, DATABASE_URL, DATA_DIR, APP_SECRET })
  expect(code).toBe(1)
  expect(stderr).toContain(`Часы этой машины ${words}`)
  expect(stderr).toMatch(/^.*timedatectl.*\n$/)
})

/** Returns the address of the embedded database that runs in a folder, over its socket. */
function socketUrl(dataDir: string): string {
  return `postgresql://vslukh@localhost:5432/vslukh?host=${join(dataDir, 'postgres')}`
}
