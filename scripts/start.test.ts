import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, readdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { folderForTest } from '../server/testing/process/folder-for-test.ts'
import { compileCacheFolder } from './compile-cache.ts'

const ROOT = join(import.meta.dirname, '..')
const listCaches = () =>
  readdir(join(ROOT, 'node_modules/.cache'), { recursive: true }).catch(() => [])

test.each([
  ['the machine’s Node', 'the oldest supported one', 'bin', 'v26.12.0', 'machine'],
  ['the machine’s Node', 'a later one', 'bin', 'v27.0.1', 'machine'],
  ['the bundled Node', 'an older one', 'bin', 'v26.11.9', process.version],
  ['the bundled Node', 'one that does not run', 'bin', 'exit 1', process.version],
  ['the bundled Node', 'one in node_modules', 'node_modules/.bin', 'v26.12.0', process.version],
  ['the bundled Node', 'a link to the launcher', 'bin', 'link', process.version],
])('%s runs if PATH has %s', async (_which, _what, place, version, expected) => {
  const folder = join(await folderForTest(), place)
  await mkdir(folder, { recursive: true })
  const launcher = join(ROOT, 'bin/run-node')
  const says = version.startsWith('v') ? `echo ${version}` : version
  const program = `#!/bin/sh\nif [ "$1" = --version ]; then ${says}; else echo machine; fi\n`
  if (version === 'link') await symlink(launcher, join(folder, 'node'))
  else await writeFile(join(folder, 'node'), program, { mode: 0o755 })
  const env = { PATH: `${folder}:/usr/bin:/bin` }
  const { stdout } = await promisify(execFile)(launcher, ['-p', 'process.version'], { env })
  expect(stdout.trim()).toBe(expected)
})

test('a start caches compiled code in the user’s folder, not in node_modules, and reads no configuration of the current folder', async () => {
  const cache = await folderForTest()
  const before = await listCaches()
  // graphile-worker would read this file as its configuration and fail.
  await writeFile(join(cache, 'package.json'), '{ broken')
  // Refused after the web is built and the server's code is loaded.
  const env = { PATH: process.env.PATH, XDG_CACHE_HOME: cache, PORT: 'http' }
  const start = spawn(process.execPath, [join(ROOT, 'scripts/start.ts')], {
    cwd: cache,
    env,
    stdio: ['ignore', 'inherit', 'pipe'],
  })
  const [output, [code]] = await Promise.all([text(start.stderr), once(start, 'close')])
  expect({ code, output }).toEqual({
    code: 78,
    output: expect.stringMatching(/(?:^|\n)PORT: .*\n$/),
  })
  const cached = await readdir(join(cache, 'vslukh/compile'), { recursive: true })
  expect(cached.length).toBeGreaterThan(50)
  expect(await listCaches()).toEqual(before)
}, 120_000)

test('the image’s command reads no configuration of the current folder either', async () => {
  const folder = await folderForTest()
  await writeFile(join(folder, 'package.json'), '{ broken')
  const main = join(ROOT, 'server/main.ts')
  const env = { PATH: process.env.PATH, PORT: 'http' }
  const start = promisify(execFile)(process.execPath, [main], { cwd: folder, env })
  await expect(start).rejects.toMatchObject({ code: 78, stderr: expect.stringMatching(/^PORT: /) })
}, 120_000)

test('a start without the packages that build the web says in one sentence how to install them', async () => {
  const folder = await folderForTest()
  for (const part of ['contract', 'scripts', 'server', 'web', 'package.json']) {
    await cp(join(ROOT, part), join(folder, part), { recursive: true })
  }
  // As `npm ci` leaves it with NODE_ENV=production: the server's packages alone.
  await mkdir(join(folder, 'node_modules'))
  await symlink(join(ROOT, 'node_modules/typebox'), join(folder, 'node_modules/typebox'))
  const start = spawn(process.execPath, [join(folder, 'scripts/start.ts')], {
    stdio: ['ignore', 'inherit', 'pipe'],
  })
  const [output, [code]] = await Promise.all([text(start.stderr), once(start, 'close')])
  expect({ code, output }).toEqual({
    code: 1,
    output: expect.stringMatching(/^Веб-приложение не собрано, .*npm ci --include=dev, .*\n$/),
  })
})

test.each([
  ['the server', '', 'npm ci'],
  ['the web', 'dev', 'npm ci --include=dev'],
])(
  'a start with packages of an older version for %s names one, and how to install it',
  async (_for, dev, command) => {
    const folder = await folderForTest()
    for (const part of ['contract', 'scripts', 'server', 'web', 'package.json']) {
      await cp(join(ROOT, part), join(folder, part), { recursive: true })
    }
    const lock = (version: string) =>
      JSON.stringify({ packages: { '': {}, 'node_modules/some': { version, dev: dev !== '' } } })
    await writeFile(join(folder, 'package-lock.json'), lock('2.0.0'))
    await mkdir(join(folder, 'node_modules'))
    for (const name of ['typebox', 'vite'])
      await symlink(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name))
    await writeFile(join(folder, 'node_modules/.package-lock.json'), lock('1.0.0'))
    const start = spawn(process.execPath, [join(folder, 'scripts/start.ts')], {
      stdio: ['ignore', 'inherit', 'pipe'],
    })
    const [output, [code]] = await Promise.all([text(start.stderr), once(start, 'close')])
    const sentence = `Установлены не те пакеты, что нужны этой версии: нет some 2.0.0. Выполните ${command}\n`
    expect({ code, output }).toEqual({ code: 1, output: sentence })
  },
)

test('in a folder that was deleted a command says so', async () => {
  const folder = await folderForTest()
  const inFolder = 'cd "$0" && rmdir "$0" && exec "$1" --version'
  const args = ['-c', inFolder, folder, join(ROOT, 'bin/vslukh')]
  const failed = await promisify(execFile)('/bin/sh', args).catch((error) => error)
  expect(failed.code).toBe(1)
  expect(failed.stderr).toMatch(/^Папки, в которой .* больше нет\. Перейдите в другую: cd \/\n$/m)
  expect(failed.stderr).not.toContain('node:')
})

test('a checkout on Windows keeps the line ends that shells need', async () => {
  const args = ['check-attr', 'eol', '--', 'bin/run-node', 'bin/vslukh', 'deploy/deb/postinst']
  const { stdout } = await promisify(execFile)('git', args, { cwd: ROOT })
  expect(stdout.match(/: eol: lf$/gm)).toHaveLength(3)
})

test('a start whose build of the web fails ends with a sentence, and leaves no part of the build', async () => {
  const folder = await folderForTest()
  for (const part of ['contract', 'scripts', 'server', 'web', 'package.json', 'vite.config.ts']) {
    await cp(join(ROOT, part), join(folder, part), { recursive: true })
  }
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  await writeFile(join(folder, 'web/start/first-page.ts'), 'export const {')
  const start = spawn(process.execPath, [join(folder, 'scripts/start.ts')], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const [output, [code]] = await Promise.all([text(start.stderr), once(start, 'close')])
  expect(code).toBe(1)
  expect(output).toMatch(/\nВеб-приложение не собралось \(код 1\).*\n$/)
  expect(await readdir(join(folder, 'dist'))).toEqual([])
}, 120_000)

test('without XDG_CACHE_HOME the cache is .cache in the user’s home, wherever $HOME points', () => {
  const folder = compileCacheFolder({ HOME: '/home/somebody-else' })
  expect(folder).toMatch(/\.cache\/vslukh\/compile$/)
  expect(folder).not.toContain('somebody-else')
})
