import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'

/** Passes all connections on to a server of this machine, and counts what it answers. */
export async function startCountingProxy(server: string) {
  const { hostname: host, port } = new URL(server)
  let bytes = 0
  const proxy = createServer((browser) => {
    const upstream = connect({ host, port: Number(port) })
    upstream.on('data', (chunk) => {
      bytes += chunk.length
    })
    browser.pipe(upstream).pipe(browser)
    for (const socket of [browser, upstream]) socket.on('error', () => socket.destroy())
  })
  await once(proxy.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    /** Returns how many bytes all browsers have received, with headers. */
    received: () => bytes,
    stop: () => proxy.close(),
  }
}
