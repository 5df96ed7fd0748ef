import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { folderForTest } from '../server/testing/process/folder-for-test.ts'
import { runCommand } from '../server/testing/process/run-command.ts'
import { startMain } from '../server/testing/process/start-main.ts'
import { EMAIL, startWall } from '../server/testing/process/start-wall.ts'

test('commands find the embedded database of a running and of a stopped server, and take effect at once', async () => {
  const dataDir = await folderForTest()
  const env = { DATA_DIR: dataDir, RATE_LIMIT_SCALE: '1000' }
  const status = async () => JSON.parse((await runCommand(env, 'status', '--json')).out)
  expect(await runCommand(env, 'status')).toMatchObject({ code: 1, out: '' })

  const { client, stop } = await startWall(env)
  const user = await client.signIn(EMAIL)
  const posts = await Promise.all([1, 2, 3].map(() => client.publish(user)))
  const envFile = join(dataDir, 'wall.env')
  await writeFile(envFile, `DATA_DIR=${dataDir}\n`)
  for (const { id } of posts.slice(0, 2)) {
    expect((await client.call('GET', `/posts/${id}`)).status).toBe(200)
    const removed = await runCommand({}, 'post', id, 'remove', '--env-file', envFile)
    expect(removed.code).toBe(0)
    // Without the change feed the visitor's cached answer would still be served.
    expect((await client.call('GET', `/posts/${id}`)).status).toBe(404)
  }
  expect(await status()).toMatchObject({ nodes: 1, posts: 1 })
  expect((await runCommand(env, 'psql')).err).toBe('')
  await stop()

  expect((await runCommand(env, 'psql')).err).toMatch(/адрес действует, только пока он работает/)
  expect(await status()).toMatchObject({ nodes: 0, posts: 1 })
  expect(await runCommand(env, 'post', posts[0]?.id ?? '', 'restore')).toMatchObject({ code: 0 })
  const again = await startMain(env)
  expect(await (await fetch(`${again.url}/api/v1/posts`)).json()).toMatchObject({ total: 2 })
}, 240_000)
