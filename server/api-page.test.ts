import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { folderForTest } from './testing/process/folder-for-test.ts'
import { mailAppForTest } from './testing/test-app.ts'

const PAGE = readFileSync('docs/api.md', 'utf8')
const BOT = [...PAGE.matchAll(/^ {4}(.*)$|^$/gm)].map(([, line = '']) => line).join('\n')
const EMAIL = 'bot@example.org'

test('the bot in docs/api.md signs in with a mailed code, publishes, and needs no code the next time', async () => {
  const { app, mailbox } = await mailAppForTest()
  const bot = await app.signIn(EMAIL)
  const folder = await folderForTest()
  await writeFile(join(folder, 'bot.mjs'), BOT)

  async function run(post: string, code?: Promise<string>) {
    const child = spawn(process.execPath, ['bot.mjs', app.url, EMAIL, post], { cwd: folder })
    const printed = Promise.all([text(child.stdout), text(child.stderr)])
    const exit = once(child, 'exit')
    child.stdin.end(code ? `${await code}\n` : '')
    const [status] = await exit
    const [out, err] = await printed
    return { status, out, err }
  }

  expect(await run('Доброе утро', mailbox.codeFor(EMAIL, 2))).toEqual({
    status: 0,
    out: 'Code: ',
    err: '',
  })
  const { posts } = await app.read('/posts')
  expect(posts).toMatchObject([{ text: 'Доброе утро', owner: { username: bot.username } }])
  await app.reply(await app.signUp(), posts[0].id, 'И вам')

  const { status, out } = await run('Добрый вечер')
  expect([status, out]).toEqual([0, expect.stringMatching(/^\w+: И вам\n$/)])
  expect((await app.read('/posts')).total).toBe(2)
  expect((await stat(join(folder, 'bot.json'))).mode & 0o777).toBe(0o600)
})
