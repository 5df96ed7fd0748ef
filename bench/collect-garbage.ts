import { on, once } from 'node:events'

/** A thread that has just ended answers nothing. */
const ANSWER_MS = 30_000

type Message = { id?: number; method?: string; params?: { sessionId: string } }

/** Makes Node.js listen to `collectGarbage` at a port. */
export const inspectedAt = (port: number) => ({ NODE_OPTIONS: `--inspect=127.0.0.1:${port}` })

/**
 * Collects the garbage of a process and of its threads, so that what it still has is what it needs.
 */
export async function collectGarbage(port: number): Promise<void> {
  const list = await fetch(`http://127.0.0.1:${port}/json/list`)
  const [target] = (await list.json()) as { webSocketDebuggerUrl: string }[]
  const socket = new WebSocket(target?.webSocketDebuggerUrl ?? '')
  await once(socket, 'open')
  const messages = on(socket, 'message', { signal: AbortSignal.timeout(ANSWER_MS) })
  const ask = (id: number, method: string, params = {}) =>
    socket.send(JSON.stringify({ id, method, params }))
  const threads: string[] = []
  const heard = async (isIt: (message: Message) => boolean) => {
    for (;;) {
      // A loop over `messages` would end them.
      const { value: [{ data }] = [{}] } = await messages.next()
      const message: Message = JSON.parse(data)
      const { method, params } = message
      if (method === 'NodeWorker.attachedToWorker' && params) threads.push(params.sessionId)
      if (isIt(message)) return
    }
  }

  ask(1, 'NodeWorker.enable', { waitForDebuggerOnStart: false })
  ask(2, 'HeapProfiler.collectGarbage')
  await heard(({ id }) => id === 2)
  for (const sessionId of threads) {
    const message = JSON.stringify({ id: 1, method: 'HeapProfiler.collectGarbage' })
    ask(3, 'NodeWorker.sendMessageToWorker', { sessionId, message })
    await heard(({ method }) => method === 'NodeWorker.receivedMessageFromWorker')
  }
  socket.close()
}
