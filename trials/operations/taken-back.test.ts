import { createServer } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { createProductClient } from '../../e2e/testing/product.ts'
import { executeOn } from '../../server/testing/databases.ts'
import { folderForTest } from '../../server/testing/folder-for-test.ts'
import { freePort, listen } from '../../server/testing/free-port.ts'
import { envOf, runCommand } from '../../server/testing/run-command.ts'
import { type ProxiedSite, startProxiedSite } from './proxied-site.ts'
import { startProxy } from './proxies.ts'
import { nginxConfig } from './proxy-configs.ts'

/**
 * How long everything is read again and again: longer than nginx may serve a copy during its
 * update.
 */
const WATCHED_MS = 8000
const TEXT = 'Больше не слышно'

test('behind nginx a removed, hidden or deleted post, and one of an erased author, is gone at once, and stays gone when the server dies', async () => {
  const site = await startProxiedSite('nginx')
  const { client, olga, products, databaseUrl } = site
  const leaver = await client.signUp()
  const author = { deleted: olga, removed: olga, hidden: olga, left: leaver }
  const ids: string[] = []
  for (const [name, user] of Object.entries(author)) {
    ids.push((await client.publish(user, `${TEXT}: ${name}`)).id)
  }
  const [deleted = '', removed = '', hidden = ''] = ids
  for (let round = 0; round < 2; round++) {
    expect(await shown(site, ids)).toEqual(addresses(ids))
  }

  await client.call('DELETE', `/posts/${deleted}`, { token: olga.token })
  const command = (...args: string[]) => runCommand(envOf({ databaseUrl }), ...args)
  expect(await command('post', removed, 'remove', '--yes')).toMatchObject({ code: 0 })
  expect(await command('user', leaver.email, 'erase', '--yes')).toMatchObject({ code: 0 })
  await hideByReports(site, hidden)
  await expect.poll(() => shown(site, ids), { interval: 300 }).toEqual([])
  await watch(site, ids)
  await products[0]?.stop('SIGKILL')
  await watch(site, ids)
})

test('nginx serves a copy only if there is no server to ask, and only as long as the server has allowed', async () => {
  let status = 200
  const server = createServer((_, response) => {
    const allowed = 'public, max-age=0, s-maxage=1, stale-if-error=4'
    response.writeHead(status, { 'cache-control': status === 200 ? allowed : 'no-store' }).end()
  })
  const port = await listen(server)
  const [httpPort, httpsPort] = [await freePort(), await freePort()]
  const nodes = [`127.0.0.1:${port}`]
  const settings = { folder: await folderForTest(), httpPort, httpsPort, nodes }
  const proxy = await startProxy(await nginxConfig(settings), settings)
  onTestFinished(proxy.close)
  const read = async () => (await proxy.call('/')).status
  expect(await read()).toBe(200)
  for (status of [500, 503]) await expect.poll(read).toBe(status)
  status = 200
  expect(await read()).toBe(200)

  const stored = performance.now()
  server.close()
  server.closeAllConnections()
  while ((await read()) === 200);
  const ms = performance.now() - stored
  // nginx counts in whole seconds.
  expect(ms).toBeGreaterThan(3000)
  expect(ms).toBeLessThan(8000)
  expect(await read()).toBe(503)
})

function addresses(ids: string[]): string[] {
  const ofPosts = ids.flatMap((id) => [`/posts/${id}`, `/api/v1/posts/${id}`])
  return ['/', '/api/v1/posts?limit=10', ...ofPosts]
}

/** Returns the addresses at which visitors see a post with the text. */
async function shown({ proxy }: ProxiedSite, ids: string[]): Promise<string[]> {
  const seen: string[] = []
  for (const path of addresses(ids)) {
    const { body } = await proxy.call(path)
    if (body.includes(TEXT)) seen.push(path)
  }
  return seen
}

async function watch(site: ProxiedSite, ids: string[]): Promise<void> {
  const until = performance.now() + WATCHED_MS
  while (performance.now() < until) expect(await shown(site, ids)).toEqual([])
}

/**
 * Reports a post from three accounts that were registered in networks of their own, two days ago.
 */
async function hideByReports({ products, databaseUrl }: ProxiedSite, postId: string) {
  const direct = createProductClient({ url: `http://${products[0]?.address}` })
  const tokens: string[] = []
  for (const n of [1, 2, 3]) {
    const headers = { 'x-forwarded-for': `203.${n}.113.7` }
    const email = `reporter${n}@example${n}.org`
    tokens.push((await direct.signIn(email, undefined, headers)).token)
  }
  await executeOn(databaseUrl, `UPDATE users SET created_at = created_at - interval '2 days'`)
  for (const token of tokens) {
    await direct.call('POST', `/posts/${postId}/reports?reason_id=1`, { token })
  }
}
