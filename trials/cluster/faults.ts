import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import { type Outcome, recordCalls } from '../../e2e/testing/recorded-calls.ts'
import { DEVICE, PAST_CACHE, type TestUser } from '../../server/testing/client.ts'
import type { Node } from '../nodes/pair.ts'
import { rolesIn } from '../nodes/stale-reads.ts'
import { type ClusterLoad, isVisitorRead } from './cluster-load.ts'
import type { Site } from './clustered-site.ts'

/** The line that a node logs when an outage begins. */
export const OUTAGE = /^the database is (away|read-only)$/

/** All times are in milliseconds since the beginning of the fault. */
export type FaultReport = {
  fault: string
  /** Until the failed part worked again or was replaced. */
  lastedMs: number
  /** Until the first write that was sent after the beginning was acknowledged. */
  firstWriteMs: number
  longestPauseMs: number
  /** Until a mail arrived that was requested after the beginning. */
  mailMs: number
  /** Until both nodes received each other's changes. */
  changesMs: number
  visitorReads: { failed: number; all: number }
  userReads: { failed: number; all: number }
  /** What each node logged as a warning or an error, or printed past its log. */
  troubles: string[][]
}

/**
 * Causes a fault and waits until everything works again. A fault that lasts ends when `cause`
 * resolves.
 */
export async function reportFault(
  fault: string,
  { site, load, reader }: { site: Site; load: ClusterLoad; reader: TestUser },
  cause: () => Promise<void>,
): Promise<FaultReport> {
  const began = Date.now()
  const since = () => Date.now() - began
  const outcomesBefore = load.outcomes.length
  const linesBefore = site.nodes.map(({ product }) => product.lines.length)
  const [mailMs, lastedMs] = await Promise.all([
    mailArrives(site).then(since),
    cause().then(since),
    firstWriteAfter(load, began),
  ])
  const changesMs = await changesArrive(site).then(since)
  await expectChangesEverywhere(site, reader)
  const troublesOf = ({ product }: Node, n: number) =>
    troublesIn(product.lines.slice(linesBefore[n]))
  // A node works again some moments before it logs the end of the outage, at its next probe.
  while (site.nodes.map(troublesOf).some((told) => OUTAGE.test(told.at(-1) ?? ''))) await delay(100)
  const outcomes = load.outcomes.slice(outcomesBefore)
  return {
    fault,
    lastedMs,
    firstWriteMs: (await firstWriteAfter(load, began)) - began,
    longestPauseMs: longestPause(load, began),
    mailMs,
    changesMs,
    visitorReads: countFailed(outcomes.filter(isVisitorRead)),
    userReads: countFailed(outcomes.filter(({ call }) => call === 'GET /posts')),
    troubles: site.nodes.map(troublesOf),
  }
}

type Failed = { failed: number; all: number }

function countFailed(outcomes: Outcome[]): Failed {
  const failed = outcomes.filter(({ status }) => status !== 200)
  return { failed: failed.length, all: outcomes.length }
}

async function firstWriteAfter({ writes }: ClusterLoad, began: number): Promise<number> {
  for (;;) {
    const answered = writes.filter((write) => write.began >= began).map(({ ended }) => ended)
    if (answered.length > 0) return Math.min(...answered)
    await delay(20)
  }
}

function troublesIn(lines: string[]): string[] {
  const found =
    /"level":"(?:warn|error|fatal)".*"msg":"(?!requests refused|the doctor)(.*)"|^(Trace:.*|Error.*)/
  return lines.flatMap((line) => found.exec(line)?.slice(1).find(Boolean) ?? [])
}

function longestPause({ writes }: ClusterLoad, began: number): number {
  const times = [began, ...writes.map(({ ended }) => ended).filter((ended) => ended > began)]
  return Math.max(...times.slice(1).map((time, n) => time - (times[n] ?? time)))
}

/** Asks for a mail until the server queues it; resolves when it arrives. */
async function mailArrives({ url, mailbox }: Site): Promise<void> {
  const { call } = recordCalls(url)
  const email = `${randomUUID()}@example.org`
  const body = { email, clientToken: randomUUID(), device: DEVICE }
  while ((await call('POST', '/registrations', { body })).status !== 201) await delay(100)
  await mailbox.mailTo(email)
}

/** Resolves when both nodes are ready and subscribed to changes at the current primary. */
async function changesArrive({ nodes, db }: Site): Promise<void> {
  for (;;) {
    const ready = await Promise.all(nodes.map(isReady))
    const found = sql<{ count: number }>`SELECT count(*)::int AS count FROM pg_stat_activity
      WHERE application_name LIKE 'vslukh change feed%' AND state = 'idle'
      AND query IN ('LISTEN vslukh', 'SELECT') AND NOT pg_is_in_recovery()`.execute(db)
    const listeners = await found.then(({ rows }) => rows[0]?.count).catch(() => 0)
    if (ready.every(Boolean) && listeners === nodes.length) return
    await delay(100)
  }
}

function isReady({ product }: Node): Promise<boolean> {
  return fetch(`${product.url}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  )
}

/** Throws if a user does not see their own change at once on the other node. */
async function expectChangesEverywhere({ nodes }: Site, { id: userId, token }: TestUser) {
  for (const round of [0, 1]) {
    const { writer, other } = rolesIn({ nodes }, round)
    const newest = async () => {
      const sent = { token, headers: PAST_CACHE }
      const { body } = await other.direct.call('GET', `/posts?userId=${userId}`, sent)
      return body.posts?.[0]?.id
    }
    await newest()
    const body = { text: `Круг ${round}` }
    const { id } = (await writer.direct.call('POST', '/posts', { token, body })).body
    if (id === undefined || (await newest()) !== id) throw new Error('A user missed an own post')
    await writer.direct.call('DELETE', `/posts/${id}`, { token })
    if ((await newest()) === id) throw new Error('A user saw a post that was deleted')
  }
}
