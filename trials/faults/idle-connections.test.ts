import { once } from 'node:events'
import { Agent, get, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { startProductForTest } from '../../e2e/testing/product.ts'
import { databaseForTest } from '../../server/testing/database/database-for-test.ts'
import { openSocket } from '../../server/testing/http/raw-http.ts'

const OPEN_FILES = 200

test.each([
  ['never send anything', ''],
  ['have been answered', 'GET /livez HTTP/1.1\r\nHost: x\r\n\r\n'],
])(
  'more connections than the process may open files, which %s, neither crash it nor lock others out',
  async (_, sent) => {
    const env = { DATABASE_URL: await databaseForTest() }
    const { product } = await startProductForTest({ env, openFiles: OPEN_FILES })
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    onTestFinished(() => agent.destroy())
    const url = `${product.url}/api/v1/posts`
    const statusOf = async () => (await fetch(url)).status
    expect(await ask(url, agent)).toEqual({ status: 200, isReused: false })

    const idle: Socket[] = []
    onTestFinished(() => idle.forEach((socket) => void socket.destroy()))
    while (idle.length < OPEN_FILES * 2) {
      const socket = await openSocket(product.url)
      socket.on('error', () => {})
      idle.push(socket)
      if (sent) {
        socket.write(sent)
        await Promise.race([once(socket, 'data'), once(socket, 'close')])
      }
      if (idle.length % 20 > 0) continue
      // A connection in use stays open, and new ones are accepted.
      expect(await ask(url, agent)).toEqual({ status: 200, isReused: true })
      expect(await statusOf()).toBe(200)
    }
    for (const socket of idle) socket.destroy()
    expect(await statusOf()).toBe(200)
    expect(await product.stop('SIGTERM')).toBe(0)
  },
)

/** Sends a request on the agent's only connection; returns whether it was open already. */
async function ask(url: string, agent: Agent): Promise<{ status?: number; isReused: boolean }> {
  const request = get(url, { agent })
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  response.resume()
  await once(response, 'end')
  return { status: response.statusCode ?? 0, isReused: request.reusedSocket }
}
