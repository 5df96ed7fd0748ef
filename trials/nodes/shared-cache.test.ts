import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Site, startJourney } from '../../e2e/testing/journey.ts'
import { endChild, untilUp } from '../../server/testing/child-process.ts'
import type { TestUser } from '../../server/testing/client.ts'
import { findNginx, isRoot } from '../../server/testing/debian-package.ts'
import { freePort } from '../../server/testing/free-port.ts'

const PATHS = ['/', '/api/v1/posts?limit=10', '/feed.atom']

let journey: Site
let proxy: Awaited<ReturnType<typeof startCachingProxy>>
let olga: TestUser
beforeAll(async () => {
  journey = await startJourney()
  proxy = await startCachingProxy(journey.url)
  olga = await journey.signUp()
  const { id } = await journey.publish(olga, 'Слышно всем')
  await journey.call('POST', `/posts/${id}/likes`, { token: olga.token })
})
afterAll(async () => {
  await proxy?.close()
  await journey?.close()
})

/** Starts Debian's nginx as a shared cache that obeys response headers. The caller closes it. */
async function startCachingProxy(upstream: string) {
  const nginx = await findNginx()
  const folder = await mkdtemp(join(tmpdir(), 'vslukh-nginx-'))
  const port = await freePort()
  await writeFile(
    join(folder, 'nginx.conf'),
    `${isRoot ? 'user root;' : ''} daemon off; pid ${folder}/pid; error_log ${folder}/error.log;
events {}
http {
  access_log off;
  client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi; uwsgi_temp_path ${folder}/uwsgi; scgi_temp_path ${folder}/scgi;
  proxy_cache_path ${folder}/cache keys_zone=wall:1m;
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass ${upstream}; proxy_http_version 1.1;
      proxy_set_header Host $host:$server_port;
      proxy_cache wall; proxy_cache_lock on;
      add_header x-cache $upstream_cache_status always;
    }
  }
}`,
  )
  const server = spawn(nginx, ['-p', folder, '-c', join(folder, 'nginx.conf')], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const url = `http://127.0.0.1:${port}`
  await untilUp(server, () => fetch(`${url}/livez`).then(({ ok }) => ok))
  return {
    url,
    async close() {
      await endChild(server)
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function read(path: string, headers: Record<string, string> = {}) {
  const answer = await fetch(proxy.url + path, { headers })
  return { cache: answer.headers.get('x-cache'), text: await answer.text() }
}

test('a shared cache serves one visitor’s response to others, in each one’s encoding', async () => {
  for (const path of PATHS) {
    await expect.poll(async () => (await read(path)).cache).toBe('HIT')
    for (const encoding of ['br', 'gzip', 'identity']) {
      expect((await read(path, { 'accept-encoding': encoding })).text).toContain('Слышно всем')
    }
  }
})

test('a shared cache never serves one user’s page or likes to another', async () => {
  const own = { cookie: olga.cookie }
  const token = { authorization: `Bearer ${olga.token}` }
  for (const first of ['visitor', 'user'] as const) {
    // Waits until the second is over in which the cache may serve its copy.
    await expect.poll(async () => (await read('/feed.json')).cache).not.toBe('HIT')
    const pages = [() => read('/'), () => read('/', own)]
    if (first === 'user') pages.reverse()
    for (const visit of [...pages, ...pages]) await visit()
    // Both read the same posts; `data-session` hides the parts for visitors from users.
    expect((await read('/')).text).not.toContain('<html data-session')
    expect((await read('/', own)).text).toContain('<html data-session')
    expect((await read('/', own)).cache).not.toBe('HIT')

    const posts = '/api/v1/posts?limit=10'
    for (let round = 0; round < 3; round++) {
      expect(JSON.parse((await read(posts)).text).posts[0].actions.is_liked).toBe(false)
      expect(JSON.parse((await read(posts, token)).text).posts[0].actions.is_liked).toBe(true)
    }
  }
})
