import pg from 'pg'
import type { BrowserContextOptions, ConsoleMessage, Page } from 'playwright-core'
import { expect, inject, onTestFinished } from 'vitest'
import { codeOf } from '../../server/codes/code.ts'
import { deriveKey } from '../../server/start/app-secret.ts'
import { createClient, type TestUser } from '../../server/testing/client.ts'
import { freshDatabase } from '../../server/testing/databases.ts'
import { launchChromium } from './chromium.ts'
import { installProduct } from './product.ts'

const APP_SECRET = 'a-secret-that-only-journeys-know-0123456789'

/** What a browser says of a call that was refused; whether that is wrong is for the test to say. */
const REFUSED_CALL = /^Failed to load resource: /

/** A wait this long is a failure even on a busy machine. */
const PATIENCE_MS = 15_000

export const PHONE = { width: 390, height: 844 }
export const TABLET = { width: 800, height: 900 }
export const DESKTOP = { width: 1280, height: 900 }

export type Visit = BrowserContextOptions & {
  /** Who is signed in; a visitor otherwise. */
  as?: TestUser
  path?: string
  /** Sees the page before it goes anywhere. */
  before?: (page: Page) => Promise<unknown>
  /** What the journey makes the browser complain of on purpose. */
  expectedTrouble?: RegExp
}

/** The product on a fresh database, a browser, and the ways to set both up. */
export type Stage = Awaited<ReturnType<typeof openStage>>

/** Starts the product and a browser; the caller closes them. */
export async function openStage(env: Record<string, string> = {}) {
  const database = await freshDatabase(inject('databaseUrl'))
  const product = await installProduct({ DATABASE_URL: database.url, APP_SECRET, ...env })
  await product.start()
  const browser = await launchChromium()
  const sql = new pg.Client({ connectionString: database.url })
  await sql.connect()
  const codeKey = deriveKey(APP_SECRET, 'codes')

  // A vacuum under way would keep the database from being dropped.
  await sql.query('ALTER TABLE posts SET (autovacuum_enabled = false)')

  /** As a node that shares the database does after a change: the product must not answer with what it read before. */
  const tellProduct = () => sql.query(`SELECT pg_notify('vslukh', 'stage posts')`)

  async function openPage(visit: Visit): Promise<Page> {
    const { as: user, path = '/', before, expectedTrouble, ...options } = visit
    const context = await browser.newContext({ viewport: PHONE, locale: 'ru-RU', ...options })
    if (user) {
      const [name = '', value = ''] = user.cookie.split('=')
      // As the server sets it.
      const cookie = { name, value, url: product.url, httpOnly: true, sameSite: 'Strict' } as const
      await context.addCookies([cookie])
      await context.addInitScript(keepClientToken, user.clientToken)
    }
    context.setDefaultTimeout(PATIENCE_MS)
    const page = await context.newPage()
    const troubles = collectTroubles(page)
    onTestFinished(async () => {
      await context.close()
      expect(troubles.filter((text) => !expectedTrouble?.test(text))).toEqual([])
    })
    await before?.(page)
    await page.goto(product.url + path)
    return page
  }

  return {
    ...createClient(product.url, { check() {}, codeFor: (id) => codeOf(id, codeKey) }),
    url: product.url,
    product,
    browser,
    sql,

    /** A page in a browser of its own, gone when the test is over; an error or a refused script on it fails the test. */
    visit: (visit: Visit = {}) => openPage(visit),

    /** Posts on the wall by `user`, numbered from 1, the last the newest; published a minute ago and earlier. */
    async fillWall(user: TestUser, count: number, text = 'Запись'): Promise<void> {
      await sql.query(
        `INSERT INTO posts (owner_id, text, created_at)
         SELECT u.id, $2 || ' ' || n, now() - ($3 - n + 1) * interval '1 minute'
         FROM users u, generate_series(1, $3::int) n WHERE u.id = $1 ORDER BY n`,
        [user.id, text, count],
      )
      await sql.query('UPDATE wall_totals SET posts = posts + $1 WHERE slot = 0', [count])
      await sql.query(
        `INSERT INTO owner_totals (user_id, posts) VALUES ($1, $2)
         ON CONFLICT (user_id) DO UPDATE SET posts = owner_totals.posts + $2`,
        [user.id, count],
      )
      await tellProduct()
    },

    async emptyWall(): Promise<void> {
      await sql.query('TRUNCATE posts, owner_totals, like_totals CASCADE')
      await sql.query('UPDATE wall_totals SET posts = 0')
      await tellProduct()
    },

    async close(): Promise<void> {
      await browser.close()
      await sql.end()
      await product.remove()
      await database.drop()
    },
  }
}

function collectTroubles(page: Page): string[] {
  const troubles: string[] = []
  page.on('pageerror', (error) => troubles.push(String(error)))
  page.on('console', (message: ConsoleMessage) => {
    if (message.type() === 'error' && !REFUSED_CALL.test(message.text()))
      troubles.push(message.text())
  })
  return troubles
}

function keepClientToken(clientToken: string): void {
  localStorage.setItem('client-token', clientToken)
}
