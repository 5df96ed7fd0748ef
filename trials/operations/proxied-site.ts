import { createProductClient, startProductForTest } from '../../e2e/testing/product.ts'
import { databaseForTest } from '../../server/testing/database/database-for-test.ts'
import { freePort } from '../../server/testing/process/free-port.ts'
import { type ProxyName, startProxy } from './proxies.ts'

export type ProxiedSite = Awaited<ReturnType<typeof startProxiedSite>>

export const TEXT = 'Слышно всем'

/**
 * Starts a proxy, the nodes behind it, and a wall whose newest post Olga likes; all for one test.
 */
export async function startProxiedSite(name: ProxyName) {
  const httpsPort = await freePort()
  const databaseUrl = await databaseForTest()
  const env = {
    DATABASE_URL: databaseUrl,
    PUBLIC_URL: `https://localhost:${httpsPort}`,
    MAIL_MODE: 'print',
    TRUST_PROXY: '127.0.0.1',
    ACCESS_JOURNAL_DAYS: '1',
  }
  const products = [(await startProductForTest({ env })).product]
  // The file of HAProxy names two nodes.
  if (name === 'HAProxy') products.push((await startProductForTest({ env })).product)
  const addresses = products.map(({ address }) => address)
  const proxy = await startProxy(name, addresses, httpsPort)

  const client = createProductClient(proxy)
  const olga = await client.signUp()
  for (let n = 1; n < 5; n++) await client.publish(olga, `Запись ${n}`)
  const post = await client.publish(olga, TEXT)
  await client.call('POST', `/posts/${post.id}/likes`, { token: olga.token })
  return { proxy, client, olga, products, databaseUrl }
}

export const POSTS = '/api/v1/posts?limit=10'

/** Reads pages and answers of the API, each null while the site is not available. */
export async function readAsBoth({ proxy, olga }: ProxiedSite) {
  const read = async (path: string, headers: Record<string, string> = {}) => {
    const { status, body } = await proxy.call(path, { headers })
    return status === 200 ? body.toString() : null
  }
  const isLiked = (answer: string | null) =>
    answer === null ? null : JSON.parse(answer).posts[0].actions.is_liked
  const isRendered = (page: string | null) => page?.includes(TEXT) ?? null
  return {
    visitor: {
      isRendered: isRendered(await read('/')),
      isLiked: isLiked(await read(POSTS)),
    },
    olga: {
      isRendered: isRendered(await read('/', { cookie: olga.cookie })),
      isLiked: isLiked(await read(POSTS, { authorization: `Bearer ${olga.token}` })),
    },
  }
}
