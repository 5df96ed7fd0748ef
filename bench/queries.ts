import { AsyncLocalStorage } from 'node:async_hooks'
import pg from 'pg'
import { createApp } from '../server/app.ts'
import { readConfig } from '../server/kernel/config/config.ts'
import { createLogger } from '../server/kernel/log/logger.ts'
import { SECRET } from './measured-product.ts'

export type Call = {
  method: 'GET' | 'POST' | 'DELETE'
  path: string
  token?: string
  body?: object
}

/**
 * Counts the statements of each call at the driver, without cached responses. Calls twice, and
 * counts the second time, when everything is prepared.
 */
export async function countQueries(databaseUrl: string, calls: Call[]): Promise<number[]> {
  const config = readConfig({
    RATE_LIMIT_SCALE: '100000',
    ACCESS_TOKEN_SECONDS: '86400',
    LOG_LEVEL: 'silent',
  })
  const app = await createApp({
    config,
    databaseUrl,
    secret: SECRET,
    transport: { destination: '', send: async () => '', canSendTo: async () => true },
    log: createLogger('silent'),
    webFolder: '',
  })
  const counts: number[] = []
  for (const call of calls) {
    await inject(call)
    counts.push(await statementsOf(() => inject(call)))
  }
  await app.close()
  return counts

  async function inject({ method, path, token, body }: Call): Promise<void> {
    const answer = await app.http.inject({
      method,
      url: `/api/v1${path}`,
      ...(token && { headers: { authorization: `Bearer ${token}` } }),
      ...(body && { payload: body }),
    })
    if (answer.statusCode >= 400) throw new Error(`${method} ${path}: ${answer.body}`)
  }
}

/** Returns how many statements a call sends, without those of the queue and the change feed. */
export async function statementsOf(call: () => Promise<unknown>): Promise<number> {
  const sent = { count: 0 }
  await sender.run(sent, call)
  return sent.count
}

const sender = new AsyncLocalStorage<{ count: number }>()

function countDriverQueries(): void {
  const { submit } = pg.Query.prototype as unknown as { submit: (connection: unknown) => unknown }
  Object.assign(pg.Query.prototype, {
    submit(this: { text?: string }, connection: unknown) {
      const sent = sender.getStore()
      if (sent && !/graphile_worker|outbox|pg_notify|LISTEN/.test(this.text ?? '')) sent.count++
      return submit.call(this, connection)
    },
  })
}
countDriverQueries()
