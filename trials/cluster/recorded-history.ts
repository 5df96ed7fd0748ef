import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { PAGE_SIZE_MAX, READ_AFTER_WRITE_MS } from '../../contract/constants.ts'
import type { Post } from '../../contract/posts.ts'
import { GONE, type History, type Read } from '../../e2e/testing/judge-history.ts'
import { recordCalls } from '../../e2e/testing/recorded-calls.ts'
import { PAST_CACHE, type TestUser } from '../../server/testing/client.ts'
import { RETRIED } from './cluster-load.ts'

const WRITER_PAUSE_MS = 200
const READER_PAUSE_MS = 50
const RETRY_MS = 50

type Person = {
  name: string
  /** Undefined for a visitor. */
  user?: TestUser
  /** Calls another node each time, as behind a balancer without affinity. */
  isWanderer?: boolean
}

type Writer = { user: TestUser; name: string }

/**
 * Simulates writers and readers at several nodes, and records their requests and answers. A client
 * stays at its node until that fails, and goes on at another one.
 */
export function recordHistory(urls: string[], users: [TestUser, TestUser, TestUser]) {
  const history: History = []
  const nodes = urls.map((url) => recordCalls(url).call)
  const [one, two, reader] = users
  const writers: Writer[] = [one, two].map((user) => ({ user, name: `writer ${user.id}` }))
  /** The newest post of each writer, which readers read. */
  const newest = new Map<string, string>()
  let isStopped = false

  function openClient({ name, user, isWanderer = false }: Person, startsAt: number) {
    let node = startsAt
    let wroteAt = Number.NEGATIVE_INFINITY

    async function insist(method: string, path: string, sent: { body?: object; headers?: object }) {
      const asked = performance.now()
      let began = asked
      if (isWanderer) node = (node + 1) % nodes.length
      for (;;) {
        const call = nodes[node] as (typeof nodes)[number]
        const outcome = await call(method, path, {
          ...(sent as object),
          ...(user && { token: user.token }),
        })
        const moment = { client: name, node, began, ended: performance.now() }
        if (!RETRIED.has(outcome.status)) return { outcome, asked, moment, isRetry: asked < began }
        node = (node + 1) % nodes.length
        await delay(RETRY_MS)
        began = performance.now()
      }
    }

    async function write(method: string, path: string, wrote: number, text?: string) {
      const headers = { 'idempotency-key': randomUUID() }
      const body = text === undefined ? {} : { body: { text: `${text}, ${wrote}` } }
      const { outcome, asked, moment, isRetry } = await insist(method, path, { ...body, headers })
      wroteAt = moment.ended
      // If only the answer was lost, the retry has nothing more to delete or to change.
      const isDone = isRetry && outcome.status === (wrote === GONE ? 404 : 400)
      if (!isDone && Number(outcome.status) >= 300) {
        throw new Error(`${outcome.status} ${method} ${path}`)
      }
      const id: string = outcome.body?.id ?? path.split('/')[2]
      history.push({ ...moment, began: asked, post: Number(id), wrote })
      return id
    }

    async function read(path: string, sawOf: (answer: Answer) => Pick<Read, 'saw' | 'list'>) {
      const isSoon = performance.now() - wroteAt < READ_AFTER_WRITE_MS
      const headers = user && isSoon ? PAST_CACHE : {}
      const { outcome, moment } = await insist('GET', path, { headers })
      history.push({ ...moment, ...sawOf(outcome), isStale: outcome.age !== null })
    }

    return {
      publish: (text: string) => write('POST', '/posts', 1, text),
      edit: (id: string, version: number, text: string) =>
        write('PATCH', `/posts/${id}`, version, text),
      remove: (id: string) => write('DELETE', `/posts/${id}`, GONE),

      readPost: (id: string) =>
        read(`/posts/${id}`, ({ status, body }) => ({
          saw: new Map([[Number(id), status === 404 ? 0 : versionOf(body)]]),
        })),

      readList: (writer?: Writer) => {
        const query = `limit=${PAGE_SIZE_MAX}${writer ? `&userId=${writer.user.id}` : ''}`
        return read(`/posts?${query}`, ({ body }) => {
          const saw = new Map<number, number>(
            body.posts.map((post: Post) => [Number(post.id), versionOf(post)]),
          )
          const from = saw.size === PAGE_SIZE_MAX ? Math.min(...saw.keys()) : 0
          return { saw, list: { from, ...(writer && { by: writer.name }) } }
        })
      },
    }
  }

  /** Publishes, edits twice and deletes every third post, and looks at each step's result. */
  async function write({ user, name }: Writer, startsAt: number): Promise<void> {
    const client = openClient({ name, user }, startsAt)
    for (let n = 0; !isStopped; n++) {
      const text = `Запись ${n} для истории`
      const id = await client.publish(text)
      newest.set(name, id)
      await client.readList({ user, name })
      await client.edit(id, 2, text)
      await client.readPost(id)
      await client.edit(id, 3, text)
      await client.readList()
      if (n % 3 === 0) await client.remove(id)
      await client.readPost(id)
      await delay(WRITER_PAUSE_MS)
    }
  }

  async function keepReading(person: Person, startsAt: number): Promise<void> {
    const client = openClient(person, startsAt)
    while (!isStopped) {
      await client.readList()
      for (const writer of writers) await client.readList(writer)
      for (const id of newest.values()) await client.readPost(id)
      await delay(READER_PAUSE_MS)
    }
  }

  const people: Person[] = [
    { name: 'reader', user: reader },
    { name: 'visitor' },
    { name: 'wandering reader', user: reader, isWanderer: true },
    { name: 'wandering visitor', isWanderer: true },
  ]
  const simulations = [
    ...writers.map(write),
    ...nodes.flatMap((_, startsAt) =>
      people.map((person) =>
        keepReading({ ...person, name: `${person.name} ${startsAt}` }, startsAt),
      ),
    ),
  ]

  return {
    /** Ends the simulations; then one more visitor reads every post that was written. */
    async stop(): Promise<History> {
      if (isStopped) return history
      isStopped = true
      await Promise.all(simulations)
      const last = openClient({ name: 'the last visitor', isWanderer: true }, 0)
      const posts = new Set(history.flatMap((one) => ('wrote' in one ? [one.post] : [])))
      for (const post of posts) await last.readPost(String(post))
      return history
    },
  }
}

type Answer = Awaited<ReturnType<ReturnType<typeof recordCalls>['call']>>

/** Texts end in their version. */
function versionOf({ text }: Post): number {
  return Number(/, (\d+)$/.exec(text)?.[1] ?? 0)
}
