import { setTimeout as delay } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { Page } from 'playwright-core'
import { expect, vi } from 'vitest'
import { DESKTOP, type Journey } from '../../e2e/testing/journey.ts'
import { codeFor } from '../../e2e/testing/product.ts'
import { publishFromOutside } from '../../server/kernel/cache/change-feed.ts'
import { Authenticator } from '../../server/testing/authenticator.ts'
import { allEndpoints } from '../../server/testing/http/endpoints.ts'
import { DELAY_MS } from '../../web/http/delayed-write.ts'
import { createNormalizer, JOBS, openState } from '../pairs/stored-state.ts'
import {
  type Disturbance,
  FAULTS,
  type Fault,
  type LossyProxy,
  openLossyProxy,
  PAGE,
} from './lossy-proxy.ts'
import { NO_ANSWER, Person } from './person.ts'

export type World = Awaited<ReturnType<typeof makeWorld>>

/** What a person does in a browser, from a start that is the same each time. */
export type Flow = {
  name: string
  /** The calls for which it is there. */
  writes: string[]
  /** The signed-in user; if absent, a visitor. */
  as?: 'olga' | 'petr' | 'vera'
  path?: (world: World) => string
  prepare?: (journey: Journey, world: World) => Promise<unknown>
  act: (person: Person, world: World) => Promise<unknown>
  exceptions?: Exception[]
}

/** What may differ (`line`) after some faults, such as `repeat DELETE /posts/:id 1`, and why. */
type Exception = { after: RegExp; line: RegExp; because: string }

/** Words that show or not, depending on whether the mail, the news or a page comes in time. */
const FLEETING =
  /^(?:Отправляем письмо…|Письмо отправлено|Проверяем код\.\.\.|Показать новые (?:записи|ответы)|Показана сохранённая версия)$/

/** How long a page may go on changing after the last word of a flow. */
const LAST_CHANGES_MS = 10_000

const SETTLING = { timeout: 60_000, interval: 20 }

const NOTHING_ELSE = { resorts: [], failure: '' }

/** Tables that change by themselves, or with each repeated call by design. */
const LEFT_OUT = ['public.recurring_jobs']

const apart = new Set<string>()

/** Gives each table a range of ids of its own, so that a new id is no known one. Once a database. */
async function separateIds({ databaseUrl, rows }: Journey): Promise<void> {
  if (apart.has(databaseUrl)) return
  apart.add(databaseUrl)
  await rows(`SELECT setval(format('%I.%I', schemaname, sequencename)::regclass,
      1000000 * row_number() OVER (ORDER BY sequencename))
    FROM pg_sequences WHERE schemaname = 'public'`)
}

/** Olga's post with a reply of Petr's, and his question. Vera is a moderator. */
async function makeWorld(journey: Journey) {
  await separateIds(journey)
  const [olga, petr, vera] = [
    await journey.signUp(),
    await journey.signUp(),
    await journey.signUp(),
  ]
  const key = [vera.email, vera.email]
  await journey.rows('INSERT INTO moderators (email, email_key) VALUES ($1, $2)', key)
  const post = await journey.publish(olga, 'Говорят, стены слышат')
  const reply = await journey.reply(petr, post.id, 'Слышат')
  const question = await journey.publish(petr, 'О чём говорит стена')

  /** Waits until the newest code for an address has been mailed. Returns it. */
  async function code(email: string): Promise<string> {
    const newest = `SELECT id FROM codes WHERE email = $1 AND mail_state = 'sent'
      ORDER BY mailed_at DESC LIMIT 1`
    const [row] = await vi.waitUntil(async () => {
      const found = await journey.rows(newest, [email])
      return found.length > 0 && found
    }, SETTLING)
    return codeFor(row.id)
  }
  return {
    journey,
    olga,
    petr,
    vera,
    post,
    reply,
    question,
    code,
    link: '',
    passkeys: new Authenticator(),
  }
}

type End = {
  rows: Record<string, readonly string[]>
  page: string[]
  stored: string[]
}

/**
 * Runs a flow undisturbed, and then with each fault of each of its calls. Returns the calls, the
 * number of runs, and each end that is not that of the undisturbed run.
 */
export async function runFlow(
  journey: Journey,
  flow: Flow,
  isChosen: (disturbance: Disturbance) => boolean,
) {
  const nameOf = await callNames()
  const world = await makeWorld(journey)
  await flow.prepare?.(journey, world)
  const state = await openState(journey.databaseUrl)
  const before = await betweenJobs(() => state.read())
  const { changes } = createNormalizer(before)

  /**
   * Works on the rows while no job runs. A job that is stored or removed in its middle would stay
   * locked, or lock its queue, for good.
   */
  async function betweenJobs<T>(work: () => Promise<T>): Promise<T> {
    for (;;) {
      await settle(journey)
      await state.execute(`BEGIN; LOCK TABLE ${JOBS} IN EXCLUSIVE MODE`)
      const { rowCount } = await state.execute(`SELECT FROM ${JOBS} WHERE locked_at IS NOT NULL`)
      const done = rowCount === 0 ? { result: await work() } : undefined
      await state.execute('COMMIT')
      if (done) return done.result
    }
  }

  const restore = () => betweenJobs(async () => state.restore(before, await state.read()))

  async function readRows(): Promise<End['rows']> {
    await settle(journey)
    const rows = changes(await state.read())
    for (const name of LEFT_OUT) delete rows[name]
    return rows
  }

  /** Reads the end until it is as expected, or stays as it is. */
  async function readEnd(page: Page, person: Person, expected?: End): Promise<End> {
    const until = Date.now() + LAST_CHANGES_MS
    let last: End | undefined
    for (;;) {
      const end = { rows: await readRows(), ...(await readPage(page)) }
      if (isDeepStrictEqual(end, expected ?? last) || Date.now() > until) return end
      last = end
      await delay(expected ? 100 : 400)
      await person.finish()
    }
  }

  async function run(disturbance?: Disturbance, expected?: End) {
    await restore()
    await publishFromOutside(journey.databaseUrl, { kind: 'edited' })
    const proxy = await openLossyProxy(journey.product.port, nameOf, disturbance)
    const heard: string[] = []
    const page = await journey.visit({
      viewport: DESKTOP,
      proxy: { server: proxy.url, bypass: '<-loopback>' },
      serviceWorkers: 'allow',
      // Where the service worker shows the app without a stored page.
      ...(disturbance?.call.startsWith(PAGE) && { expectedErrors: /^503 GET / }),
      path: flow.path?.(world) ?? '/',
      ...(flow.as && { as: world[flow.as] }),
      before: async (it) => {
        it.context().setDefaultTimeout(8000)
        it.context().setDefaultNavigationTimeout(30_000)
        await it.exposeFunction('hear', (text: string) => heard.push(withoutNumbers(text)))
        await it.addInitScript(reportWords)
        await it.addInitScript(letTimePass, DELAY_MS)
        void passTime(it, proxy)
      },
    })
    const person = new Person(page, proxy)
    try {
      await flow.act(person, world)
      await person.finish()
      await proxy.deliverLate()
      const end = await readEnd(page, person, expected)
      return { end, heard: new Set(heard), person, proxy, failure: '' }
    } catch (error) {
      const end = { rows: {}, ...(await readPage(page)) }
      return { end, heard: new Set(heard), person, proxy, failure: String(error) }
    } finally {
      await page.context().close()
      await proxy.close()
    }
  }

  async function runAll() {
    const undisturbed = await run()
    const { person, failure } = undisturbed
    expect({ resorts: person.resorts, failure }, 'the undisturbed flow').toEqual(NOTHING_ELSE)
    const calls = [...new Set(undisturbed.proxy.calls)]
    expect(calls).toEqual(expect.arrayContaining(flow.writes.map((name) => `${name} 1`)))
    const disturbances = calls.flatMap((call) => faultsOf(call).map((fault) => ({ call, fault })))
    const faults: string[] = []
    const resorts: string[] = []
    let runs = 0
    for (const disturbance of disturbances.filter(isChosen)) {
      const disturbed = await run(disturbance, undisturbed.end)
      // Such as a read that was not needed this time.
      if (!disturbed.proxy.isHit()) continue
      runs++
      const which = `${disturbance.fault} ${disturbance.call}`
      const where = [`${flow.name}: ${which}`, ...disturbed.person.resorts].join(', then ')
      if (disturbed.person.resorts.length > 0) resorts.push(where)
      const allowed = flow.exceptions?.filter(({ after }) => after.test(which)) ?? []
      const isAllowed = (it: string) => allowed.some(({ line }) => line.test(it))
      const wrong = compare(undisturbed, disturbed).filter((it) => !isAllowed(it))
      if (wrong.length > 0) faults.push([where, ...wrong].join('\n    '))
    }
    return { calls, runs, faults, resorts }
  }

  try {
    return await runAll()
  } finally {
    await restore()
    await state.close()
  }
}

type Run = { end: End; heard: Set<string>; failure: string }

/** Describes what differs in a disturbed run: rows, the page, and words that were announced. */
function compare(undisturbed: Run, { end, heard, failure }: Run): string[] {
  const isUsual = (text: string) =>
    undisturbed.heard.has(text) || NO_ANSWER.test(text) || FLEETING.test(text)
  const strange = [...heard].filter((text) => !isUsual(text))
  return [
    ...(failure ? [failure, ...end.page] : differences(undisturbed.end, end)),
    ...strange.map((text) => `said: ${text}`),
  ]
}

/** A read changes nothing, so that it does not matter how often the server gets it. */
function faultsOf(call: string): readonly Fault[] {
  // The first page has no service worker yet, which shows a stored page instead.
  if (call.startsWith(PAGE)) return call === `${PAGE} 1` ? [] : ['drop']
  return call.startsWith('GET') ? ['drop', 'delay'] : FAULTS
}

/** Returns a function that names a call as the contract does. */
async function callNames() {
  const names = [...(await allEndpoints()).keys()].map((name) => {
    const [method = '', path = ''] = name.split(' ')
    return { name, method, pattern: new RegExp(`^${path.replace(/:\w+/g, '[^/]+')}$`) }
  })
  // Of two that match, the one with fewer parameters.
  names.sort((one, other) => one.name.split(':').length - other.name.split(':').length)
  return (method: string, path: string) => {
    const found = names.find((it) => it.method === method && it.pattern.test(path))
    // What is no call of the contract, such as the file of a download.
    return found?.name ?? `${method} /${path.split('/')[1]}`
  }
}

/** Waits until no job and no mail is due. */
async function settle({ rows }: Journey): Promise<void> {
  const due = `SELECT 'job' AS what, to_jsonb(job) AS row FROM ${JOBS} job
      WHERE run_at <= now() AND attempts < max_attempts
    UNION ALL SELECT 'mail', to_jsonb(mail) FROM outbox mail
      WHERE payload IS NOT NULL AND due_at <= now()`
  await expect.poll(() => rows(due), SETTLING).toEqual([])
}

function differences(expected: End, end: End): string[] {
  const found: string[] = []
  for (const key of ['page', 'stored'] as const) {
    for (const one of minus(expected[key], end[key])) found.push(`${key} lacks: ${one}`)
    for (const one of minus(end[key], expected[key])) found.push(`${key} has: ${one}`)
  }
  for (const table of new Set([...Object.keys(expected.rows), ...Object.keys(end.rows)])) {
    const [wanted, rows] = [expected.rows[table] ?? [], end.rows[table] ?? []]
    for (const row of minus(wanted, rows)) found.push(`${table} lacks: ${row}`)
    for (const row of minus(rows, wanted)) found.push(`${table} has: ${row}`)
  }
  return found
}

function minus(all: readonly string[], others: readonly string[]): string[] {
  const left = [...others]
  return all.filter((one) => {
    const at = left.indexOf(one)
    if (at >= 0) left.splice(at, 1)
    return at < 0
  })
}

/** Returns what the page shows and stores, without ids and times. */
async function readPage(page: Page) {
  const shown = await page.evaluate(() => {
    const parts = document.querySelectorAll<HTMLElement>('header, main, dialog[open]')
    const lines = [...parts].flatMap((it) => it.innerText.split('\n'))
    const stored = Object.entries({ ...sessionStorage, ...localStorage })
    return { path: location.pathname, lines, stored }
  })
  const kept = shown.stored.filter(([key]) => !/^(?:wrote-at|client-token|place )/.test(key))
  return {
    page: [shown.path, ...shown.lines].map(withoutNumbers).filter(Boolean),
    stored: kept.map(([key]) => withoutNumbers(key)).sort(),
  }
}

function withoutNumbers(text: string): string {
  return text
    .trim()
    .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'id')
    .replace(/user_[0-9a-z]{7}/g, 'user_name')
    .replace(/\/\d+/g, '/id')
    .replace(/\d+:\d\d/g, 'time')
    .replace(/(?:\d+\s(?:с|мин|сек|ч\.|час)\S*(?: назад)?|только что|сейчас)/g, 'ago')
}

/** Reports the words that screen readers announce. */
function reportWords(): void {
  const said = new WeakMap<Element, string>()
  const look = () => {
    for (const it of document.querySelectorAll('[role=status], [role=alert]')) {
      const text = it.textContent?.trim() ?? ''
      if (said.get(it) === text) continue
      said.set(it, text)
      if (text) Reflect.get(window, 'hear')(text)
    }
  }
  const all = { childList: true, subtree: true, characterData: true }
  new MutationObserver(look).observe(document, all)
}

/** Lets the trial end the time limits of calls, and shortens the delay of a moderator's act. */
function letTimePass(delayMs: number): void {
  const start = window.setTimeout.bind(window) as (...given: unknown[]) => number
  const startSooner = (run: unknown, ms: unknown, ...values: unknown[]) =>
    start(run, ms === delayMs ? delayMs / 200 : ms, ...values)
  Reflect.set(window, 'setTimeout', startSooner)
  const limits = new Set<AbortController>()
  const end = (limit: AbortController) => {
    limit.abort(new DOMException('signal timed out', 'TimeoutError'))
    limits.delete(limit)
  }
  AbortSignal.timeout = (ms) => {
    const limit = new AbortController()
    limits.add(limit)
    start(end, ms, limit)
    return limit.signal
  }
  Reflect.set(window, 'endTimeLimits', () => limits.forEach(end))
}

/** Ends the time limits of the page when the proxy holds a call alone. */
async function passTime(page: Page, proxy: LossyProxy): Promise<void> {
  const end = () => page.evaluate(() => Reflect.get(window, 'endTimeLimits')())
  while (!page.isClosed()) {
    // A page that is being loaded has none yet.
    if (
      proxy.isHolding() &&
      (await end()
        .then(() => true)
        .catch(() => false))
    )
      proxy.giveUp()
    await delay(30)
  }
}
