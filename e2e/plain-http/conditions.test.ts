import { expect } from 'vitest'
import { test } from '../testing/journey.ts'

test('over plain http the browser has no locks, clipboard, random UUIDs or service workers', async ({
  journey,
}) => {
  const page = await journey.visit()
  const found = await page.evaluate(() => ({
    isSecureContext,
    apis: ['locks', 'clipboard', 'serviceWorker'].filter((name) => name in navigator),
    randomUUID: typeof crypto.randomUUID,
  }))
  expect(found).toEqual({ isSecureContext: false, apis: [], randomUUID: 'undefined' })
})
