import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { type Outcome, recordCalls } from '../../e2e/testing/recorded-calls.ts'
import { DEVICE, PAST_CACHE, type TestUser } from '../../server/testing/client.ts'
import { listeningNodes } from '../../server/testing/databases.ts'
import type { Node } from '../nodes/pair.ts'
import { rolesIn } from '../nodes/stale-reads.ts'
import { type ClusterLoad, isVisitorRead } from './cluster-load.ts'
import type { Site } from './clustered-site.ts'

/** The line that a node logs when an outage begins. */
export const OUTAGE = /^the database is (away|read-only)$/

export type FaultReport = {
  fault: string
  /** In milliseconds, until the failed part worked again or was replaced. */
  lastedMs: number
  longestPauseMs: number
  /** How many of how many reads failed. */
  visitorReads: string
  userReads: string
  /** What each node logged as a warning or an error, or printed past its log. */
  troubles: string[][]
}

/**
 * Causes a fault and waits until everything works again: writes, mails, and news of changes at both
 * nodes. A fault that lasts ends when `cause` resolves.
 */
export async function reportFault(
  fault: string,
  { site, load, reader }: { site: Site; load: ClusterLoad; reader: TestUser },
  cause: () => Promise<void>,
): Promise<FaultReport> {
  const began = Date.now()
  const outcomesBefore = load.outcomes.length
  const linesBefore = site.nodes.map(({ product }) => product.lines.length)
  const [lastedMs] = await Promise.all([
    cause().then(() => Date.now() - began),
    mailArrives(site),
    writeSucceeds(load, began),
  ])
  await changesArrive(site)
  await expectChangesEverywhere(site, reader)
  const troublesOf = ({ product }: Node, n: number) =>
    troublesIn(product.lines.slice(linesBefore[n]))
  // A node works again some moments before it logs the end of the outage, at its next probe.
  while (site.nodes.map(troublesOf).some((told) => OUTAGE.test(told.at(-1) ?? ''))) await delay(100)
  const outcomes = load.outcomes.slice(outcomesBefore)
  return {
    fault,
    lastedMs,
    longestPauseMs: longestPause(load, began),
    visitorReads: countFailed(outcomes.filter(isVisitorRead)),
    userReads: countFailed(outcomes.filter(({ call }) => call === 'GET /posts')),
    troubles: site.nodes.map(troublesOf),
  }
}

function countFailed(outcomes: Outcome[]): string {
  return `${outcomes.filter(({ status }) => status !== 200).length} of ${outcomes.length}`
}

/** Resolves once a write that was sent after the beginning has been acknowledged. */
async function writeSucceeds({ writes }: ClusterLoad, began: number): Promise<void> {
  while (!writes.some((write) => write.began >= began)) await delay(20)
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

/** Resolves when both nodes are ready and receive each other's changes. */
async function changesArrive({ nodes, db }: Site): Promise<void> {
  const isReady = ({ product }: Node) =>
    fetch(`${product.url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    )
  for (;;) {
    const ready = await Promise.all(nodes.map(isReady))
    const listening = await listeningNodes({ db }).catch(() => 0)
    if (ready.every(Boolean) && listening === nodes.length) return
    await delay(100)
  }
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
