import { setTimeout as delay } from 'node:timers/promises'
import type { Mailbox } from '../server/testing/mailbox.ts'
import type { DataSet } from './data-set.ts'
import { quantile } from './load.ts'
import { goalCell, printMarkdown } from './table.ts'

type Product = { url: string; cpu: () => number }
type Options = { seconds: number; dataSet: DataSet; mailbox: Mailbox }
type Step = 'start' | 'mail' | 'confirm' | 'whole'
type SignIn = { isServed: boolean; ms: Partial<Record<Step, number>> }

const PEOPLE_PER_MINUTE = 1000
/** The longest wait of 99 of 100 people, for each step and for all steps together. */
const LONGEST_STEP_MS = 1000
const STEPS: Step[] = ['start', 'mail', 'confirm', 'whole']
const DEVICE = { userAgent: 'bench', userAgentVersion: '', os: '' }

/**
 * Simulates people who come at a steady rate, every second one with an account. Each asks for a
 * code, waits for the mail, and sends the code back. Prints how many were served and how long each
 * step took, under the goals. Exits 1 if a goal is missed.
 */
export async function measureSignInStorm(
  { url, cpu }: Product,
  { seconds, dataSet, mailbox }: Options,
): Promise<void> {
  const people = Math.round((seconds / 60) * PEOPLE_PER_MINUTE)
  const startCpu = cpu()
  const signIns: Promise<SignIn>[] = []
  for (let person = 0; person < people; person++) {
    signIns.push(signIn(url, { person, dataSet, mailbox }))
    await delay((60 / PEOPLE_PER_MINUTE) * 1000)
  }
  const ends = await Promise.all(signIns)
  const served = ends.filter(({ isServed }) => isServed).length
  const times = STEPS.map((step) => {
    const sorted = ends.flatMap(({ ms }) => ms[step] ?? []).sort((a, b) => a - b)
    return { p50: quantile(sorted, 0.5), p99: quantile(sorted, 0.99) }
  })
  const goals = times.flatMap(({ p99 }) => ['', goalCell(p99, '≤', LONGEST_STEP_MS)])
  const cells = times.flatMap(({ p50, p99 }) => [p50.toFixed(0), p99.toFixed(0)])
  const cpuMs = (cpu() - startCpu) / 1000 / people
  const counts = [people, served, mailbox.mails.length]
  printMarkdown([
    HEAD,
    ['goal', goalCell(served, '≥', people), '', ...goals, ''],
    [...counts, ...cells, cpuMs.toFixed(1)],
  ])
}

const HEAD = [
  `people, ${PEOPLE_PER_MINUTE} a minute`,
  'served',
  'mails',
  ...STEPS.flatMap((step) => [`${step} p50, ms`, 'p99']),
  'CPU each, ms',
]

/** The step `mail` lasts from the answer of `start` until the code arrives. */
async function signIn(
  url: string,
  { person, dataSet, mailbox }: { person: number } & Omit<Options, 'seconds'>,
): Promise<SignIn> {
  const isKnown = person % 2 === 0
  const path = isKnown ? '/logins' : '/registrations'
  const email = isKnown
    ? `u${1 + ((person / 2) % dataSet.users)}@example.org`
    : `new${person}@example.org`
  const clientToken = `bench-${person}`
  const ms: SignIn['ms'] = {}
  const began = performance.now()
  const note = (step: Step, since: number) => {
    ms[step] = performance.now() - since
  }
  try {
    const { id } = await post(url + API + path, { email, clientToken, device: DEVICE })
    note('start', began)
    const asked = performance.now()
    const confirmCode = await mailbox.codeFor(email)
    note('mail', asked)
    const confirmed = performance.now()
    await post(`${url}${API}${path}/${id}/verify`, { confirmCode, clientToken })
    note('confirm', confirmed)
    note('whole', began)
    return { isServed: true, ms }
  } catch (error) {
    console.log(`${email}: ${(error as Error).message}`)
    return { isServed: false, ms }
  }
}

const API = '/api/v1'

async function post(url: string, body: object): Promise<{ id: string }> {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!response.ok) throw new Error(`${url} answered ${response.status}`)
  return (await response.json()) as { id: string }
}
