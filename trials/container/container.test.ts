import { existsSync } from 'node:fs'
import { cp, readdir, readFile, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { afterAll, beforeAll, test as everywhere, expect } from 'vitest'
import { APP_SECRET, codeFor } from '../../e2e/testing/product.ts'
import { closeAfterTest } from '../../server/testing/close-after-test.ts'
import { databaseForTest } from '../../server/testing/database/database-for-test.ts'
import { executeOn } from '../../server/testing/database/databases.ts'
import { openPostgresProxy } from '../../server/testing/database/postgres-proxy.ts'
import { createClient } from '../../server/testing/http/client.ts'
import { isRoot } from '../../server/testing/process/debian-package.ts'
import { folderForTest } from '../../server/testing/process/folder-for-test.ts'
import { freePort } from '../../server/testing/process/free-port.ts'
import { ROOT, run } from '../operations/deploy-file.ts'
import { edit, VERSION } from '../operations/releases.ts'
import { openService, readApp } from './compose.ts'
import { type Image, openImages } from './images.ts'

const canBuild = isRoot && existsSync('/etc/debian_version')
if (!canBuild) {
  console.log('Skipped: only root on Debian 12 can build and run the image (buildah, bubblewrap).')
}
const test = everywhere.skipIf(!canBuild)

const NEXT_VERSION = '99.0.0'
const BACKUP = /^vslukh-.*\.backup$/

let images: Awaited<ReturnType<typeof openImages>>
let image: Image

beforeAll(async () => {
  if (!canBuild) return
  images = await openImages()
  image = await images.build(ROOT, 'vslukh:this')
}, 1_200_000)

afterAll(() => images?.close(), 120_000)

/** A wall as compose.yaml describes it, on an empty database of this test. */
async function wallForTest() {
  const port = String(await freePort())
  const app = await readApp({ POSTGRES_PASSWORD: 'secret7', APP_SECRET, PORT: port })
  const databaseUrl = await databaseForTest('template0')
  const database = closeAfterTest(await openPostgresProxy(databaseUrl))
  // The trial's containers are in the machine's network; Docker leads this port to the same one.
  expect(app.ports).toEqual([`127.0.0.1:${port}:${app.environment.PORT}/tcp`])
  const service = await openService(app, { DATABASE_URL: database.url })
  const url = `http://127.0.0.1:${port}`
  const client = createClient(url, { check() {}, codeFor })
  return {
    ...service,
    ...{ app, database, databaseUrl, url, client },
    backups: async () =>
      (await readdir(service.folder('backups'))).filter((name) => BACKUP.test(name)),
    /** Runs an operator's command in a container of its own. Returns what it prints. */
    async vslukh(on: Image, ...words: string[]): Promise<string> {
      const { code, out, err } = await service.run(on, 'bin/vslukh', ...words)
      if (code !== 0) throw new Error(`vslukh ${words.join(' ')}: ${out}${err}`)
      return out
    },
  }
}

test('the image has no tests, no test helpers and no packages for development, and the server’s user can change nothing but its volumes', async () => {
  const app = join(image.root, image.config.WorkingDir)
  const find = async (...args: string[]) => {
    const { stdout } = await run('find', [app, ...args, '-print'])
    return stdout.split('\n').flatMap((path) => (path ? [relative(image.root, path)] : []))
  }
  const tests = [
    '(',
    '-name',
    '*.test.*',
    '-o',
    '-name',
    '*.fixture.*',
    '-o',
    '-name',
    'testing',
    ')',
  ]
  expect(await find('-name', 'node_modules', '-prune', '-o', ...tests)).toEqual([])
  const { packages } = JSON.parse(await readFile(join(ROOT, 'package-lock.json'), 'utf8'))
  const all = Object.entries<{ dev?: true }>(packages)
  const developing = all.flatMap(([path, { dev }]) => (dev ? [path] : []))
  expect(developing).toContain('node_modules/vitest')
  expect(developing.filter((path) => existsSync(join(app, path)))).toEqual([])
  const changeable = ['!', '-type', 'l', '(', '!', '-user', '0', '-o', '-perm', '/022', ')']
  const volumes = Object.keys(image.config.Volumes).map((path) => path.slice(1))
  expect((await find(...changeable)).sort()).toEqual(volumes.sort())
})

test('as compose.yaml runs it, read-only and without rights, a user without a name serves the wall, is healthy without the database too, and ends with 0', async () => {
  const wall = await wallForTest()
  const boundedLog = { 'max-size': expect.any(String), 'max-file': expect.any(String) }
  const logging = { driver: 'json-file', options: boundedLog }
  expect(wall.app).toMatchObject({ read_only: true, cap_drop: ['ALL'], logging })
  // That of the image applies.
  expect(wall.app).not.toHaveProperty('healthcheck')
  const server = await wall.start(image)
  expect(await (await fetch(wall.url)).text()).toContain('Вслух')
  expect(await wall.checkHealth(image)).toBe(0)
  // Healthy all the same: a new node would not have the pages that this one has cached.
  wall.database.cut()
  await expect.poll(async () => (await fetch(`${wall.url}/readyz`)).status).toBe(503)
  expect(await wall.checkHealth(image)).toBe(0)
  wall.database.repair()
  await expect.poll(async () => (await fetch(`${wall.url}/readyz`)).status).toBe(200)
  expect(await server.stop()).toBe(0)
  expect(await wall.checkHealth(image)).toBe(1)
})

test('without any setting, the nightly backup lies on a volume of its own and is verified there', async () => {
  const wall = await wallForTest()
  const server = await wall.start(image)
  await executeOn(wall.databaseUrl, `SELECT graphile_worker.add_job('back-up')`)
  const state = async () => JSON.parse(await wall.vslukh(image, 'status', '--json')).backup
  await expect
    .poll(state, { timeout: 240_000, interval: 1_000 })
    .toMatchObject({ verifiedAt: expect.any(String), failed: null, verificationFailed: null })
  expect(await wall.backups()).toHaveLength(1)
  expect(await server.stop()).toBe(0)
})

test('while the server is stopped, a backup is made, verified and restored', async () => {
  const wall = await wallForTest()
  const server = await wall.start(image)
  const anna = await wall.client.signUp()
  const kept = await wall.client.publish(anna)
  expect(await server.stop()).toBe(0)

  const { file } = JSON.parse(await wall.vslukh(image, 'backup', 'backups', '--json'))
  expect(await wall.vslukh(image, 'verify', file)).toMatch(/^Копия верна/)
  const again = await wall.start(image)
  const lost = await wall.client.publish(anna, 'После копии.')
  const early = await wall.run(image, 'bin/vslukh', 'restore', file, '--replace', '--yes')
  expect(early).toMatchObject({ code: 1, err: expect.stringContaining('Остановите') })
  expect(await again.stop()).toBe(0)
  await wall.vslukh(image, 'restore', file, '--replace', '--yes')

  await wall.start(image)
  expect(await wall.client.read(`/posts/${kept.id}`)).toMatchObject({ text: kept.text })
  expect((await wall.client.call('GET', `/posts/${lost.id}`)).status).toBe(404)
})

test('a newer image takes the wall over, the older one takes it back, and after tables that it cannot use it restores the backup', async () => {
  const context = await folderForTest()
  await makeNextTree(context)
  const next = await images.build(context, 'vslukh:next')
  const breaking = join(context, 'breaking.sql')
  await writeFile(breaking, 'ALTER TABLE posts RENAME COLUMN next TO last;\n')
  const path = '/app/server/schema/999-breaking.sql'
  const last = await images.addFile('vslukh:next', 'vslukh:last', breaking, path)

  const wall = await wallForTest()
  const versionOf = async (on: Image) =>
    JSON.parse(await wall.vslukh(on, 'status', '--json')).version
  const before = await wall.start(image)
  const anna = await wall.client.signUp()
  const first = await wall.client.publish(anna, 'До новой версии.')
  const { file } = JSON.parse(await wall.vslukh(image, 'backup', 'backups', '--json'))
  expect(await versionOf(image)).toBe(VERSION)
  expect(await before.stop()).toBe(0)

  const newer = await wall.start(next)
  expect(await versionOf(next)).toBe(NEXT_VERSION)
  const second = await wall.client.publish(anna, 'В новой версии.')
  expect(await newer.stop()).toBe(0)

  const older = await wall.start(image)
  const third = await wall.client.publish(anna, 'Снова в прежней.')
  for (const { id, text } of [first, second, third]) {
    expect(await wall.client.read(`/posts/${id}`)).toMatchObject({ text })
  }
  expect(await older.stop()).toBe(0)

  expect(await (await wall.start(last)).stop()).toBe(0)
  await expect(wall.start(image)).rejects.toThrow(/База новее: нужна версия/)
  await wall.vslukh(image, 'restore', file, '--replace', '--yes')
  await wall.start(image)
  expect(await wall.client.read(`/posts/${first.id}`)).toMatchObject({ text: first.text })
}, 1_200_000)

/** Copies the sources of this tree, with a higher version and one more migration. */
async function makeNextTree(folder: string): Promise<void> {
  const { stdout } = await run('git', ['ls-files', '-z'], {
    cwd: ROOT,
    maxBuffer: 16 * 1024 * 1024,
  })
  for (const path of stdout.split('\0').filter((name) => name && existsSync(join(ROOT, name)))) {
    await cp(join(ROOT, path), join(folder, path))
  }
  await writeFile(
    join(folder, 'server/schema/998-next.sql'),
    '-- additive\nALTER TABLE posts ADD next text;\n',
  )
  const version: [string, string] = ['"version": "[^"]+"', `"version": "${NEXT_VERSION}"`]
  await edit(join(folder, 'package.json'), [version])
}
