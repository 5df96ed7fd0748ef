import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, onTestFinished, test } from 'vitest'
import { makeRelease } from '../../scripts/release.ts'
import { isRoot } from '../../server/testing/debian-package.ts'
import { freePort } from '../../server/testing/free-port.ts'
import { folderForTest, run } from './deploy-file.ts'
import { unpackRelease } from './releases.ts'

const LARGEST_BYTES = 90e6

test('a release runs in an empty folder, without environment, Node or network, and serves the wall over HTTP', {
  timeout: 180_000,
}, async ({ skip, annotate }) => {
  skip(!isRoot, 'only root may take the network away')
  const folder = await folderForTest()
  const archive = await makeRelease(folder)
  const { size } = await stat(archive)
  await annotate(`${(size / 1e6).toFixed(1)} MB`)
  expect(size).toBeLessThan(LARGEST_BYTES)
  const release = await unpackRelease(archive, join(folder, 'opt'))

  const port = await freePort()
  const dataDir = join(folder, 'data')
  const env = { DATA_DIR: dataDir, XDG_CACHE_HOME: join(folder, 'cache'), PORT: String(port) }
  // In a network of its own, which has nothing but loopback.
  const start = 'ip link set lo up && exec node_modules/.bin/node scripts/start.ts'
  const server = spawn('/usr/bin/unshare', ['--net', '/bin/sh', '-c', start], {
    cwd: release,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const exit = once(server, 'exit')
  onTestFinished(async () => {
    server.kill()
    await exit
  })
  const printed: string[] = []
  const { promise: ready, resolve, reject } = Promise.withResolvers<void>()
  for (const stream of [server.stdout, server.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      printed.push(line)
      if (line.startsWith('Готово: ')) resolve()
    })
  }
  server.once('exit', () => reject(new Error(printed.join('\n'))))
  await ready

  const read = `fetch(process.argv[1]).then(async (answer) => console.log(answer.status, await answer.text()))`
  const fetched = async (path: string) => {
    const url = `http://127.0.0.1:${port}${path}`
    const node = join(release, 'node_modules/.bin/node')
    const inside = ['--target', String(server.pid), '--net', node, '-e', read, url]
    return (await run('/usr/bin/nsenter', inside, { env: {} })).stdout
  }
  expect(await fetched('/')).toMatch(/^200 <!doctype html>[\s\S]*Вслух/i)
  expect(await fetched('/api/v1/posts')).toMatch(/^200 \{"posts":\[\]/)
  const script = /src="(\/assets\/[^"]+\.js)"|(\/assets\/app[^"']+\.js)/.exec(await fetched('/'))
  expect(await fetched(script?.[1] ?? script?.[2] ?? '/no-script')).toMatch(/^200 /)

  const { stdout } = await run(join(release, 'bin/vslukh'), ['status', '--json'], { env })
  expect(JSON.parse(stdout)).toBeTypeOf('object')
})
