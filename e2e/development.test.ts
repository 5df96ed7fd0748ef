import { join } from 'node:path'
import { createServer } from 'vite'
import { expect, onTestFinished } from 'vitest'
import { tap } from './testing/hands.ts'
import { desktopTest as test } from './testing/journey.ts'

/** Vite may bundle the packages first. */
const FIRST_START_MS = 60_000

test('in development React reports no error while a chunk loads', { timeout: 240_000 }, async ({
  journey,
}) => {
  const web = await createServer({
    configFile: join(import.meta.dirname, '../vite.config.ts'),
    logLevel: 'error',
    server: { port: 0, proxy: { '/api': journey.url } },
  })
  onTestFinished(() => web.close())
  await web.listen()
  const [url = ''] = web.resolvedUrls?.local ?? []
  const page = await journey.visit()
  await page.goto(url, { timeout: FIRST_START_MS })
  const link = page.getByRole('link', { name: 'Контакты' }).first()
  await link.waitFor({ timeout: FIRST_START_MS })
  expect(await page.evaluate(() => document.querySelector('script[src*="/@vite/"]'))).not.toBeNull()
  await tap(link)
  await page.getByRole('heading', { name: 'Контакты' }).first().waitFor()
})
