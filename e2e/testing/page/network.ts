import type { Page, Route } from 'playwright-core'
import { expect } from 'vitest'
import { LIVE_PATH } from '../../../contract/constants.ts'

/** Waits for the chunks of the settings, which are preloaded last. */
export async function untilPreloaded(page: Page): Promise<void> {
  await page.waitForFunction(() => {
    const fetched = performance.getEntriesByType('resource')
    return fetched.some(({ name }) => /\/assets\/settings-[^/]+\.js$/.test(name))
  })
}

/** Delays the next calls to an address until `letGo()`. */
export async function holdCalls(page: Page, address: string | RegExp, times = 99) {
  const methods: string[] = []
  const asked = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  const hold = async (route: Route) => {
    methods.push(route.request().method())
    asked.resolve()
    await gate.promise
    await route.continue()
  }
  await page.route(address, hold, { times })
  return {
    methods,
    /** Resolves when the first call has been sent. */
    asked: asked.promise,
    letGo: gate.resolve,
  }
}

/** Lets the next call to an address reach the server, and loses the answer. */
export async function loseAnswer(page: Page, address: string): Promise<void> {
  const lose = async (route: Route) => {
    const request = route.request()
    // Sent outside the browser, which would keep the cookies of the answer.
    await fetch(request.url(), {
      method: request.method(),
      headers: await request.allHeaders(),
      body: request.postData(),
    })
    await route.abort()
  }
  await page.route(address, lose, { times: 1 })
}

/** Cuts the page off. Waits until its requests fail: the browser's network process learns it last. */
export async function goOffline(page: Page): Promise<void> {
  await page.context().setOffline(true)
  await expect.poll(() => page.evaluate(isAnswered)).toBe(false)
}

/** Ends goOffline(). Waits until the page's requests are answered. */
export async function goOnline(page: Page): Promise<void> {
  await page.context().setOffline(false)
  await expect.poll(() => page.evaluate(isAnswered)).toBe(true)
}

function isAnswered(): Promise<boolean> {
  return fetch('/livez', { cache: 'no-store' }).then(Boolean, () => false)
}

/** Keeps the page without the news stream, with which the network would never be idle. */
export async function refuseNews(page: Page): Promise<void> {
  await page.route(`**${LIVE_PATH}`, (route) => route.fulfill({ status: 204 }))
}

/** Turns on the browser's data saving. */
export async function spareBytes(page: Page): Promise<unknown> {
  const browser = await page.context().newCDPSession(page)
  return browser.send('Emulation.setDataSaverOverride', { dataSaverEnabled: true })
}

/** Slows the network down to a latency (ms) and a throughput (bytes per second). */
export async function slowDown(page: Page, latency: number, throughput: number) {
  const network = await page.context().newCDPSession(page)
  const both = { downloadThroughput: throughput, uploadThroughput: throughput }
  await network.send('Network.emulateNetworkConditions', { offline: false, latency, ...both })
  return network
}

/** Counts matching requests from now on; returns a function that returns their number. */
export function countRequests(page: Page, methods: string, path: RegExp): () => number {
  let count = 0
  page.on('request', (request) => {
    if (methods.split(' ').includes(request.method()) && path.test(request.url())) count++
  })
  return () => count
}

/** Refuses the next call of a path for some seconds. */
export function refuseOnce(page: Page, path: string, message: string, seconds: number) {
  const headers = { 'retry-after': String(seconds) }
  const json = { code: 'TOO_MANY_REQUESTS', message }
  return page.route(path, (route) => route.fulfill({ status: 429, headers, json }), { times: 1 })
}

/** An answer that refuses a text for good. */
export const REFUSED = {
  status: 400,
  json: { code: 'INVALID_REQUEST', message: 'Проверьте введённые данные' },
}
