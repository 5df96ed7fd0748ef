import { once } from 'node:events'
import { expect, test } from 'vitest'
import { formatTime } from '../contract/dates.ts'
import { openNews } from '../server/testing/http/news-reader.ts'
import { freePort } from '../server/testing/process/free-port.ts'
import { envOf, runHere } from '../server/testing/process/run-command.ts'
import { appForFile } from '../server/testing/test-app.ts'

const contactEmail = 'wall@example.org'
const app = await appForFile({ config: { trustProxy: ['127.0.0.1'], contactEmail } })
const env = { ...envOf(app), PORT: new URL(app.url).port, TRUST_PROXY: '127.0.0.1' }
const vslukh = (...args: string[]) => runHere(env, args)

const from = (address: string, path: string) =>
  fetch(app.url + path, { headers: { 'x-forwarded-for': address } })

test('status lists the networks with many refusals, their address and requests, and the command that bans them', async () => {
  for (let n = 0; n < 40; n++) await from('203.0.113.7', '/api/v1/posts/999999')
  await from('203.0.113.8', '/api/v1/posts/999999')
  const { out } = await vslukh('status')
  expect(out).toMatch(/203\.0\.113\.7 × \d+: GET \/api\/v1\/posts\/:\w+ × \d+\n/)
  expect(out).not.toContain('203.0.113.8')
  expect(out).toContain('vslukh ban add network 203.0.113.7 --all --for 1h')
  expect(app.logged.join('')).not.toContain('203.0.113.7')
  const alone = await runHere({ ...env, PORT: String(await freePort()) }, ['status'])
  expect(alone).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^Отказы: +узел не отвечает$/m),
  })
  const stranger = await fetch(`${app.url}/.well-known/vslukh`)
  expect(stranger.status).toBe(404)
})

test('a ban with --all ends the streams that the network holds, and no others', async () => {
  const held = await Promise.all(
    ['198.51.100.7', '::ffff:198.51.100.7'].map((address) => openNews(app.url, address)),
  )
  const other = await openNews(app.url, '198.51.101.7')
  const closed = held.map(({ response }) =>
    expect(once(response, 'end')).rejects.toThrow('aborted'),
  )
  const { out } = await vslukh(...['ban', 'add', 'network', '198.51.100.0/24', '--all', '--json'])
  await Promise.all(closed)
  const { id } = await app.publish(await app.signUp())
  await expect.poll(() => other.events().map((event) => event.id)).toEqual([id])
  expect(held.flatMap(({ events }) => events())).toEqual([])
  expect(await vslukh('ban', 'remove', JSON.parse(out).id)).toMatchObject({ code: 0 })
})

test('a ban with --all refuses pages and calls of the network, cached ones too, until it is removed', async () => {
  const statuses = async (address: string) =>
    Promise.all(['/', '/api/v1/posts'].map(async (path) => (await from(address, path)).status))
  expect(await statuses('203.0.113.7')).toEqual([200, 200])
  const add = ['ban', 'add', 'network', '203.0.113.0/24', '--all', '--for', '1h']
  const added = await vslukh(...add, '--reason', 'Набег')
  expect(added).toMatchObject({ code: 0, out: expect.stringContaining('ничего не открыть') })
  await expect.poll(() => statuses('203.0.113.7')).toEqual([403, 403])
  expect(await statuses('::ffff:203.0.113.99')).toEqual([403, 403])
  expect(await statuses('203.0.114.7')).toEqual([200, 200])
  const page = await from('203.0.113.7', '/')
  expect(page.headers.get('content-type')).toContain('text/html')
  const [{ id, until }] = JSON.parse((await vslukh('ban', 'list', '--json')).out)
  const end = formatTime(new Date(until))
  const message = `Доступ из вашей сети закрыт до ${end}. Вопросы: ${contactEmail}`
  expect(await page.text()).toContain(`<p>${message}</p>`)
  const call = await from('203.0.113.7', '/api/v1/posts')
  expect(await call.json()).toEqual({ code: 'BLOCKED', message })
  const { out } = await vslukh('ban', 'list')
  expect(out).toMatch(/сеть 203\.0\.113\.0\/24, закрыто всё, до .*Набег/)
  const readRefusal = async () => (await from('203.0.113.7', '/api/v1/posts')).text()
  const endless = await vslukh('ban', 'add', 'network', '203.0.113.7', '--all', '--json')
  await expect.poll(readRefusal).toContain(`Доступ из вашей сети закрыт. Вопросы: ${contactEmail}`)
  for (const ban of [id, JSON.parse(endless.out).id]) {
    expect(await vslukh('ban', 'remove', ban)).toMatchObject({ code: 0 })
  }
  await expect.poll(() => statuses('203.0.113.7')).toEqual([200, 200])
})

test('a ban of all visitors is refused', async () => {
  const all = (...args: string[]) => vslukh('ban', 'add', ...args, '--all', '--yes')
  expect(await all('network', '127.0.0.0/8')).toMatchObject({ code: 1 })
  expect((await all('domain', 'spam.example')).err).toContain('--all бывает только у network')
})
