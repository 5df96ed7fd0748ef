import type { ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { onTestFinished } from 'vitest'

/** Resolves when a product says that it is ready; rejects with what it printed when it ends. It is stopped after the test. */
export async function untilReady(
  server: ChildProcessByStdio<null, Readable, Readable>,
): Promise<void> {
  const exit = once(server, 'exit')
  onTestFinished(async () => {
    server.kill()
    await exit
  })
  const printed: string[] = []
  const { promise: ready, resolve, reject } = Promise.withResolvers<void>()
  for (const stream of [server.stdout, server.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      printed.push(line)
      if (line.startsWith('Готово: ')) resolve()
    })
  }
  server.once('exit', () => reject(new Error(printed.join('\n'))))
  await ready
}
