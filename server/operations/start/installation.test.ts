import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, test, vi } from 'vitest'
import { databaseForTest } from '../../testing/database-for-test.ts'
import { executeOn } from '../../testing/databases.ts'
import { folderForTest } from '../../testing/folder-for-test.ts'
import { shiftedClock } from '../../testing/shifted-clock.ts'
import { startMain } from '../../testing/start-main.ts'

// Each test starts the whole product several times.
vi.setConfig({ testTimeout: 60_000 })

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

const secretIn = (dataDir: string) => readFile(join(dataDir, 'app-secret'), 'utf8')

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

test('a lost secret is refused and not replaced; once restored it serves, and a new one only with ACCEPT_NEW_SECRET', async () => {
  await startAndStop({ DATA_DIR })
  const away = join(root, 'app-secret')
  await rename(join(DATA_DIR, 'app-secret'), away)
  const lost = await startAndStop({ DATA_DIR })
  expect(lost.code).toBe(1)
  expect(lost.stderr).toMatch(/^Секрет .*app-secret потерян.*ACCEPT_NEW_SECRET=1.*\n$/)
  await expect(secretIn(DATA_DIR)).rejects.toThrow('ENOENT')

  expect((await startAndStop({ DATA_DIR, ACCEPT_NEW_SECRET: '1' })).code).toBeNull()
  expect(await secretIn(DATA_DIR)).not.toBe(await readFile(away, 'utf8'))
  await rename(away, join(DATA_DIR, 'app-secret'))
  expect((await startAndStop({ DATA_DIR })).code).toBe(1)
})

test('a secret without its database is refused and no empty wall is created; without the secret it is a first start', async () => {
  await startAndStop({ DATA_DIR })
  await rm(join(DATA_DIR, 'postgres'), { recursive: true })
  const lost = await startAndStop({ DATA_DIR })
  expect(lost.code).toBe(1)
  expect(lost.stderr).toMatch(
    /есть секрет \(app-secret\), но нет базы данных .*удалите app-secret.*\n$/,
  )
  await rm(join(DATA_DIR, 'app-secret'))
  expect((await startAndStop({ DATA_DIR })).code).toBeNull()
})

test('a first start that was interrupted before it stored its secret, or its fingerprint, is completed by the next', async () => {
  await startAndStop({ DATA_DIR })
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
