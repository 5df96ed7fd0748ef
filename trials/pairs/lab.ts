import { setTimeout as delay } from 'node:timers/promises'
import { inject } from 'vitest'
import { findCounterDifferences } from '../../server/features/posts/counters.task.ts'
import { freshDatabase } from '../../server/testing/database/databases.ts'
import { PAST_CACHE, type TestUser } from '../../server/testing/http/client.ts'
import { startTestApp, type TestApp } from '../../server/testing/test-app.ts'
import { HeldPostgres } from './held-postgres.ts'
import { openState, type State } from './stored-state.ts'

export type Node = { app: TestApp; postgres: HeldPostgres }

/** Nothing runs out during a run, which takes hours on a busy machine. */
const CONFIG = {
  // The nodes listen on ports of their own, and passkeys belong to one address.
  publicUrl: 'http://wall.test',
  rateLimitScale: 1e6,
  accessTokenSeconds: 86_400,
  editPeriodSeconds: 86_400,
  codeTtlSeconds: 86_400,
  reportsToHide: 2,
  logLevel: 'warn',
} as const

/** Held statements and a busy machine take time, which is no failure. */
const PATIENCE_MS = 600_000

/** Opens two nodes on one database, without jobs. */
export async function openLab() {
  const stack = new AsyncDisposableStack()
  const database = await freshDatabase(inject('databaseUrl'))
  stack.defer(database.drop)
  const state = await openState(database.url)
  stack.defer(state.close)
  // Sooner than after the usual second: the pairs look for deadlocks.
  await state.execute(
    `ALTER DATABASE ${new URL(database.url).pathname.slice(1)} SET deadlock_timeout = '20ms'`,
  )

  async function startNode(): Promise<Node> {
    const postgres = new HeldPostgres(database.url)
    const app = await startTestApp({
      databaseUrl: postgres.url,
      config: { ...CONFIG, databaseUrl: postgres.url },
      poolLimits: { statementTimeoutMs: PATIENCE_MS, connectionWaitMs: PATIENCE_MS },
      handleMs: PATIENCE_MS,
      lockWaitMs: PATIENCE_MS,
    })
    stack.defer(() => {
      postgres.free()
      return app.close()
    })
    postgres.parkJobs()
    return { app, postgres }
  }

  const nodes: [Node, Node] = [await startNode(), await startNode()]
  let present: State = await state.read()

  return {
    nodes,
    app: nodes[0].app,
    execute: state.execute,
    isBlocked: state.isBlocked,

    /** Returns what the nodes have logged since its last call. */
    takeLog: (): string[] =>
      nodes
        .flatMap(({ app }) => app.logged.splice(0))
        .filter((line) => !line.includes('"requests refused"')),

    async read(): Promise<State> {
      // Also waits for work that no call waits for, such as the refund of a limit.
      while (nodes.some(({ postgres }) => postgres.isBusy())) await delay(1)
      present = await state.read()
      return present
    },

    async restore(wanted: State): Promise<void> {
      await state.restore(wanted, present)
      present = wanted
    },

    /** Describes what is wrong with the counters and the marks of unread replies. */
    async findFaults(people: TestUser[]): Promise<string[]> {
      const { app } = nodes[0]
      const differences = await findCounterDifferences(app.db)
      const faults = differences.map((one) => JSON.stringify(one))
      for (const { token, username } of people) {
        const sent = { token, headers: PAST_CACHE }
        const mark = await app.call('GET', '/users/current/received', sent)
        if (mark.status === 401) continue
        const { body } = await app.call('GET', '/posts/replies/received?limit=50', sent)
        const isUnread = (post: { received_no: number }) => post.received_no > body.seen
        const unread = body.posts.filter(isUnread)
        if (unread.length !== mark.body.unread) {
          faults.push(`${username}: ${mark.body.unread} unread, the page shows ${unread.length}`)
        }
      }
      return faults
    },

    close: () => stack.disposeAsync(),
  }
}
