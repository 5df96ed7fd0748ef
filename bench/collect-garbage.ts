import { on, once } from 'node:events'

/** Limits the wait, because a thread that has just ended does not answer. */
const ANSWER_MS = 30_000
/** Bytes of objects and of their buffers. */
const IN_USE = '(({ heapUsed, external }) => heapUsed + external)(process.memoryUsage())'
const MIB = 1024 * 1024

type Message = {
  id?: number
  method?: string
  params?: { sessionId: string; message?: string }
  result?: { result?: { value: number } }
}

/** Returns the environment in which Node.js accepts `collectGarbage` at a port. */
export const inspectedAt = (port: number) => ({ NODE_OPTIONS: `--inspect=127.0.0.1:${port}` })

/**
 * Collects the garbage of a process and of its threads. Resolves to the MiB of the objects and
 * buffers that remain.
 */
export async function collectGarbage(port: number): Promise<number> {
  const list = await fetch(`http://127.0.0.1:${port}/json/list`)
  const [target] = (await list.json()) as { webSocketDebuggerUrl: string }[]
  const socket = new WebSocket(target?.webSocketDebuggerUrl ?? '')
  await once(socket, 'open')
  const messages = on(socket, 'message', { signal: AbortSignal.timeout(ANSWER_MS) })
  const threads: string[] = []
  let asked = 0

  /** Resolves to the answer of the process, or of one of its threads. */
  async function ask(method: string, params = {}, sessionId?: string): Promise<Message> {
    const id = ++asked
    const question = JSON.stringify({ id, method, params })
    const forward = { sessionId, message: question }
    const forThread = { id: 0, method: 'NodeWorker.sendMessageToWorker', params: forward }
    socket.send(sessionId === undefined ? question : JSON.stringify(forThread))
    for (;;) {
      // Leaving a loop over `messages` would end them.
      const { value: [{ data }] = [{}] } = await messages.next()
      const received: Message = JSON.parse(data)
      const { sessionId: from, message } = received.params ?? {}
      if (received.method === 'NodeWorker.attachedToWorker' && from) threads.push(from)
      const answer: Message = message === undefined ? received : JSON.parse(message)
      if (answer.id === id) return answer
    }
  }

  await ask('NodeWorker.enable', { waitForDebuggerOnStart: false })
  let bytes = 0
  for (const thread of [undefined, ...threads]) {
    await ask('HeapProfiler.collectGarbage', {}, thread)
    const { result } = await ask('Runtime.evaluate', { expression: IN_USE }, thread)
    bytes += result?.result?.value ?? Number.NaN
  }
  socket.close()
  return bytes / MIB
}
