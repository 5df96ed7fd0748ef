import { once } from 'node:events'
import { chmod, chown, mkdir, mkdtemp, readdir, rm, rmdir, stat, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { asRoot } from '../../testing/process/folder-for-test.ts'
import { Folder, query } from './embedded-postgres.fixture.ts'

const at = new Folder()

test.each([
  ['longer than a socket path may be', 'очень-длинная-папка-'.repeat(4)],
  ['with spaces, quotes, commas and percent signs', `дом "а, б" 'в' 100%20 +&?#`],
])('works in a folder %s', async (_kind, name) => {
  at.dataDir = join(at.root, name)
  const first = await at.start()
  expect(await query(first.connectionString, 'select 1')).toEqual([1])
  await expect(at.start()).rejects.toThrow('уже занята')
  await first.stop()
  const next = await at.start()
  expect(await query(next.connectionString, 'select current_user')).toEqual(['vslukh'])
  const { host } = Object.fromEntries(new URL(next.connectionString).searchParams)
  if (!host || host.startsWith(at.root)) return
  expect((await stat(host)).mode & 0o777).toBe(0o700)
  await next.stop()
  await rmdir(host)
})

asRoot('works as root inside a folder that only root may enter', async () => {
  const home = await mkdtemp(join(homedir(), 'embedded-'))
  onTestFinished(() => rm(home, { recursive: true, force: true }))
  expect((await stat(home)).mode & 0o777).toBe(0o700)
  const { connectionString } = await at.start(join(home, 'data'))
  expect(await query(connectionString, 'select 1')).toEqual([1])
})

asRoot('works as root where unshare is missing, as another user', async () => {
  await chmod(at.root, 0o755)
  await mkdir(at.dataDir, { mode: 0o700 })
  await (await at.start()).stop()
  const { connectionString = '', refused } = await at.startChild({ ...process.env, PATH: at.root })
    .message
  expect(refused).toBeUndefined()
  expect(await query(connectionString, 'select 1')).toEqual([1])
  expect((await stat(join(at.dataDir, 'postgres'))).uid).toBe(65534)
})

/** The id of a user who has no name, as in a container that is started with `--user`. */
const NAMELESS = 61_234

asRoot('works under an id without a name, which initdb refuses', async () => {
  await chmod(at.root, 0o755)
  await mkdir(at.dataDir)
  await chown(at.dataDir, NAMELESS, NAMELESS)
  const ids = { uid: NAMELESS, gid: NAMELESS }
  for (const _start of ['first', 'next']) {
    const { child, message } = at.startChild({ PATH: process.env.PATH }, ids)
    const { connectionString = '', refused } = await message
    expect(refused).toBeUndefined()
    expect(await query(connectionString, 'select 1')).toEqual([1])
    child.send('stop')
    await once(child, 'exit')
  }
  expect((await stat(join(at.dataDir, 'postgres'))).uid).toBe(NAMELESS)
})

asRoot('says what helps an id without a name where unshare is missing', async () => {
  await chmod(at.root, 0o755)
  await mkdir(at.dataDir)
  await chown(at.dataDir, NAMELESS, NAMELESS)
  const ids = { uid: NAMELESS, gid: NAMELESS }
  const { refused } = await at.startChild({ PATH: at.root }, ids).message
  expect(refused).toMatch(
    new RegExp(`^Не удалось создать базу данных .* ${NAMELESS} нет имени.*DATABASE_URL`),
  )
  expect(await readdir(at.dataDir)).toEqual([])
})

test('removes what an interrupted first start left behind; is closed to every other user of the machine', async () => {
  await mkdir(join(at.dataDir, 'postgres.new-aB3dE6', 'base'), { recursive: true })
  await writeFile(join(at.dataDir, 'postgres.new-aB3dE6', 'PG_VERSION'), '18\n')
  const { connectionString } = await at.start()
  expect(await query(connectionString, 'select 1')).toEqual([1])
  expect((await readdir(at.dataDir)).sort()).toEqual(['postgres', 'postgres.log'])
  expect((await stat(join(at.dataDir, 'postgres'))).mode & 0o077).toBe(0)
})

test('says so when DATA_DIR/postgres holds something else', async () => {
  await mkdir(join(at.dataDir, 'postgres'), { recursive: true })
  await writeFile(join(at.dataDir, 'postgres', 'notes.txt'), 'mine')
  await expect(at.start()).rejects.toThrow('это не база данных')
  expect(await readdir(at.dataDir)).toEqual(['postgres'])
})
