import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { test as base, expect, inject, onTestFinished } from 'vitest'
import { publishFromOutside } from '../../server/kernel/cache/change-feed.ts'
import { newEmail } from '../../server/testing/calls/account-fixture.ts'
import { executeOn, freshDatabase } from '../../server/testing/database/databases.ts'
import { passLimitTime } from '../../server/testing/database/passing-time.ts'
import type { TestUser } from '../../server/testing/http/client.ts'
import { openMailbox } from '../../server/testing/mail/mailbox.ts'
import { openAccounts } from './accounts.ts'
import { launchChromium } from './browsers/chromium.ts'
import { APP_SECRET, createProduct, createProductClient } from './product.ts'
import { whenScriptsRun } from './when-scripts-run.ts'

/** The browser's message about a refused call, which is not an error of the page. */
const REFUSED_CALL = /^Failed to load resource: /

/** A wait this long is a failure even on a busy machine. */
const TIMEOUT_MS = 15_000

export const PHONE = { width: 390, height: 844 }
export const TABLET = { width: 800, height: 900 }
export const DESKTOP = { width: 1280, height: 900 }

export type Visit = BrowserContextOptions & {
  /** The signed-in user; if absent, a visitor. */
  as?: TestUser
  path?: string
  before?: (page: Page) => Promise<unknown>
  /** Errors on the page, and failures of the server, that the journey causes on purpose. */
  expectedErrors?: RegExp
  waitsForScripts?: boolean
}

/** A product of its own with a browser, a mailbox and a database. */
export type Site = Awaited<ReturnType<typeof startJourney>>
export type Journey = ReturnType<typeof inViewport>

let shared: Promise<Site> | undefined

/**
 * Journeys on the one product of this worker, shared because Vitest would start another for each
 * `test.extend`. Every test begins with an empty wall.
 */
export const test = journeysOn('worker', () => (shared ??= startJourney()))
export const desktopTest = test.extend('viewport', DESKTOP)

/** Journeys of a file that needs another environment, and so a product of its own. */
export function testWith(environment?: Record<string, string>) {
  return journeysOn('file', () => startJourney(environment))
}

/** Every test begins with an empty wall. The users of a test are fixtures. */
function journeysOn(scope: 'worker' | 'file', start: () => Promise<Site>) {
  return (
    base
      // biome-ignore lint/correctness/noEmptyPattern: Vitest reads the names of other fixtures here, and this one uses none
      .extend('site', { scope: scope as 'file' }, async ({}, { onCleanup }) => {
        const site = await start()
        onCleanup(site.close)
        return site
      })
      .extend('viewport', PHONE)
      .extend('journey', { auto: true }, async ({ site, viewport }) => {
        await site.startAnew()
        return inViewport(site, viewport)
      })
      .extend('olga', ({ journey }) => journey.signUp())
      .extend('petr', ({ journey }) => journey.signUp())
  )
}

function inViewport(site: Site, viewport: typeof PHONE) {
  const visit = (options: Visit = {}) => site.visit({ viewport, ...options })
  return {
    ...site,
    visit,

    /** Opens a page and waits until its news stream is open. */
    async visitWithNews(options: Visit = {}): Promise<Page> {
      const live = Promise.withResolvers<void>()
      const page = await visit({
        ...options,
        before: async (opened) => {
          await options.before?.(opened)
          void opened.waitForResponse('**/api/v1/live').then(() => live.resolve(), live.reject)
        },
      })
      await live.promise
      return page
    },
  }
}

/** Starts the product, a browser and an SMTP server. The caller closes them. */
async function startJourney(env: Record<string, string> = {}) {
  const database = await freshDatabase(inject('databaseUrl'))
  const mailbox = await openMailbox()
  const product = await createProduct({
    DATABASE_URL: database.url,
    APP_SECRET,
    SMTP_URL: mailbox.url,
    ACCESS_TOKEN_SECONDS: '3600',
    RATE_LIMIT_SCALE: '1',
    TRUST_PROXY: '127.0.0.1',
    ...env,
  })
  const accounts = openAccounts(database.url, { secret: APP_SECRET, site: product })
  const [browser] = await Promise.all([launchChromium(), product.start()])
  const rows = (statement: string, values: unknown[] = []) =>
    // biome-ignore lint/suspicious/noExplicitAny: each statement has columns of its own
    executeOn<any>(database.url, statement, values)

  let tests = 0
  /** The network address of the running test, which no other test has. */
  const network = () => ({
    'X-Forwarded-For': `10.${tests >> 16}.${(tests >> 8) & 255}.${tests & 255}`,
  })

  /** Makes cached responses stale, as an operator's command would. Waits until the product knows. */
  const invalidateCache = () => publishFromOutside(database.url, { kind: 'edited' })

  /** Each page has a browser context of its own; an error on the page fails the test. */
  async function visit({ as: user, path = '/', before, ...given }: Visit): Promise<Page> {
    const { expectedErrors, waitsForScripts = true, ...options } = given
    const context = await browser.newContext({
      viewport: PHONE,
      locale: 'ru-RU',
      // Requests of a service worker are neither routed nor counted. Its own journey allows it.
      serviceWorkers: 'block',
      extraHTTPHeaders: network(),
      ...options,
    })
    if (user) {
      await context.addCookies(cookiesOf(user, product.url))
      await context.addInitScript(storeClientToken, user.clientToken)
    }
    context.setDefaultTimeout(TIMEOUT_MS)
    const errors = collectErrors(context)
    const page = await context.newPage()
    routeAtOnce(page)
    onTestFinished(async () => {
      await context.close()
      expect(errors.filter((text) => !expectedErrors?.test(text))).toEqual([])
    })
    await before?.(page)
    // Scripts that a test holds back can keep the page from being loaded.
    const waitUntil = waitsForScripts ? 'load' : 'domcontentloaded'
    await page.goto(product.url + path, { waitUntil })
    if (waitsForScripts) await whenScriptsRun(page)
    return page
  }

  let closing: Promise<void> | undefined

  async function close(): Promise<void> {
    await browser.close()
    await accounts.close()
    await product.remove()
    await mailbox.close()
    await database.drop()
  }

  const client = createProductClient({ url: `http://${product.address}` }, network)
  const codesRead = new Map<string, number>()

  async function emptyWall(): Promise<void> {
    await rows('DELETE FROM posts')
    // A report outlives its post.
    await rows('TRUNCATE reports, appeals, blocks')
    await invalidateCache()
  }

  return {
    ...client,
    url: product.url,
    databaseUrl: database.url,
    product,
    rows,
    mailbox,

    /** Opens a session of an account that is weeks old, and the account if there is none. */
    signIn: accounts.signIn,
    signUp: () => accounts.signIn(newEmail()),

    /** Waits for the code in the next unread mail. */
    nextCode(email: string): Promise<string> {
      const count = (codesRead.get(email) ?? 0) + 1
      codesRead.set(email, count)
      return mailbox.codeFor(email, count)
    },

    /** Makes all events that limits count in the database older, such as mailed codes. */
    passLimitTime: (seconds: number) => passLimitTime(accounts, seconds),

    visit,

    /**
     * Publishes numbered posts, of which 1 is the oldest. The newest is a minute old.
     */
    async fillWall(user: TestUser, count: number, text = 'Запись'): Promise<void> {
      await rows(
        `INSERT INTO posts (owner_id, text, created_at)
         SELECT u.id, $2 || ' ' || n, now() - ($3 - n + 1) * interval '1 minute'
         FROM users u, generate_series(1, $3::int) n WHERE u.id = $1 ORDER BY n`,
        [user.id, text, count],
      )
      await invalidateCache()
    },

    /** Publishes more replies than the limits let a user write at once. */
    async fillThread(user: TestUser, postId: string, texts: string[]): Promise<void> {
      await rows(
        `INSERT INTO posts (owner_id, text, replied_post_id, parent_post_id)
         SELECT $1, reply.text, replied.id, coalesce(replied.parent_post_id, replied.id)
         FROM posts replied, unnest($3::text[]) WITH ORDINALITY AS reply (text, n)
         WHERE replied.id = $2 ORDER BY n`,
        [user.id, postId, texts],
      )
      await invalidateCache()
    },

    /** Removes posts as a moderator does. */
    async removePosts(column: 'id' | 'owner_id', value = ''): Promise<void> {
      await rows(
        `UPDATE posts SET hidden_for = 'removed', hidden_reason = 'Спам', hidden_by = 'vera',
           hidden_at = now(), hidden_until = now() + interval '1 day' WHERE ${column} = $1`,
        [value],
      )
      await invalidateCache()
    },

    emptyWall,

    /** Begins a test: the wall is empty, and the network has called nothing yet. */
    async startAnew(): Promise<void> {
      tests++
      await emptyWall()
    },

    /** Both kinds of tests of a worker share a journey, and close it. */
    close: () => (closing ??= close()),
  }
}

/** Returns the cookies of a signed-in browser, with the same attributes as the server sets. */
export function cookiesOf(user: TestUser, url: string) {
  return [user.cookie, user.browser].map((text) => {
    const [name = '', value = ''] = text.split('=')
    return { name, value, url, httpOnly: true, sameSite: 'Strict' } as const
  })
}

/** Collects errors that a test must declare: exceptions, logged errors, and answers of 5xx. */
function collectErrors(context: BrowserContext): string[] {
  const errors: string[] = []
  // Unhandled rejections are errors too.
  context.on('weberror', (error) => errors.push(String(error.error())))
  context.on('console', (message) => {
    if (message.type() === 'error' && !REFUSED_CALL.test(message.text()))
      errors.push(message.text())
  })
  context.on('response', (response) => {
    // An answer that the test itself sends has no date.
    if (response.status() < 500 || !response.headers().date) return
    errors.push(`${response.status()} ${response.request().method()} ${response.url()}`)
  })
  return errors
}

const PROBE = '/routed'

/**
 * Makes `page.route` wait until it intercepts the page's requests: Chromium reports success some
 * milliseconds too early, and requests in between would not be intercepted.
 */
function routeAtOnce(page: Page): void {
  const route = page.route.bind(page)
  page.route = async (...given) => {
    const routed = await route(...given)
    // A page that is not open yet has no requests.
    if (page.url() === 'about:blank') return routed
    await route(`**${PROBE}`, (it) => it.fulfill({ status: 204 }), { times: 1 })
    await page.evaluate(untilAnswered204, PROBE)
    return routed
  }
}

async function untilAnswered204(path: string): Promise<void> {
  while ((await fetch(path).catch(() => undefined))?.status !== 204);
}

function storeClientToken(clientToken: string): void {
  // The empty page before the first one has no storage.
  if (location.protocol !== 'about:') localStorage.setItem('client-token', clientToken)
}
