import { join } from 'node:path'
import fastifyStatic from '@fastify/static'
import Fastify from 'fastify'
import { expect, onTestFinished } from 'vitest'
import { folderForTest } from '../server/testing/process/folder-for-test.ts'
import { runCommand } from '../server/testing/process/run-command.ts'
import { testWith } from './testing/journey.ts'
import { APP_SECRET } from './testing/product.ts'

const test = testWith({ RATE_LIMIT_SCALE: '1000' })

/** Serves a folder as any web server does. Returns its address. */
async function serveFolder(root: string): Promise<string> {
  const server = Fastify()
  onTestFinished(() => server.close())
  await server.register(fastifyStatic, { root, redirect: true })
  server.setNotFoundHandler((_, reply) => reply.code(404).sendFile('404.html'))
  return server.listen({ host: '127.0.0.1', port: 0 })
}

test('an archive can be read from any web server: each list to its end, threads and authors, without scripts and dead links', async ({
  journey: { databaseUrl, publish, reply, visit },
  olga,
  petr,
}) => {
  const posts = []
  for (let n = 1; n <= 12; n++) posts.push(await publish(olga, `Запись ${n}`))
  const first = posts[0]?.id ?? ''
  for (let n = 1; n <= 11; n++) await reply(petr, first, `Ответ ${n}`)
  const folder = join(await folderForTest(), 'archive')
  const env = { DATABASE_URL: databaseUrl, APP_SECRET, PUBLIC_URL: 'http://wall.example' }
  const written = await runCommand(env, 'archive', folder, '--without-pictures')
  expect(written.err).toBe('')
  expect(written.out).toContain('23 записи, 2 автора')

  const origin = await serveFolder(folder)
  const page = await visit({ javaScriptEnabled: false, waitsForScripts: false })
  const seen = new Set<string>()
  const queue = ['/']
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    if (seen.has(path)) continue
    seen.add(path)
    const answer = await page.goto(origin + path)
    expect(answer?.status(), path).toBe(200)
    await page.getByText(/^Это архив стены на/).waitFor()
    expect(await page.getByRole('button').count(), path).toBe(0)
    const links = page.locator('a[href^="/"]:visible')
    queue.push(
      ...(await links.evaluateAll((all) => all.map((link) => link.getAttribute('href') ?? ''))),
    )
  }
  for (const { id } of posts) expect(seen).toContain(`/posts/${id}`)
  expect([...seen].filter((path) => path.startsWith('/page/'))).toHaveLength(1)
  expect([...seen].filter((path) => path.startsWith(`/posts/${first}/page/`))).toHaveLength(1)
  await page.goto(`${origin}/posts/${first}`)
  await page.getByText('Ответ 11').waitFor()
  expect(await page.locator('time').first().textContent()).toMatch(/^\d+\s[а-я]+\s\d{4}$/)
})
