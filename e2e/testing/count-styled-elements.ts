import type { Page } from 'playwright-core'

type TraceEvent = {
  name: string
  args: { elementCount?: number; data?: { nodeName?: string; reason?: string } }
}

/** Counts by a trace how many elements the browser styles, each as often as it does. */
export async function countStyledElements(page: Page, act: () => Promise<void>): Promise<number> {
  const events = await traceStyles(page, 'devtools.timeline', act)
  const updates = events.filter(({ name }) => name === 'UpdateLayoutTree')
  return updates.reduce((sum, { args }) => sum + (args.elementCount ?? 0), 0)
}

/**
 * Returns why the browser looked through all that the page holds for elements whose style might
 * have changed, however few had. Each time costs the more the more posts are loaded.
 */
export async function searchesOfWholePage(page: Page, act: () => Promise<void>): Promise<string[]> {
  const category = 'disabled-by-default-devtools.timeline.invalidationTracking'
  const events = await traceStyles(page, category, act)
  return events.flatMap(({ args: { data } }) => {
    const { nodeName = '', reason = '' } = data ?? {}
    const isWhole = /^(HTML|BODY|DIV id='root')/.test(nodeName)
    return isWhole && /:has\(\)|pending invalidation/.test(reason) ? [`${nodeName}: ${reason}`] : []
  })
}

async function traceStyles(
  page: Page,
  category: string,
  act: () => Promise<void>,
): Promise<TraceEvent[]> {
  const browser = page.context().browser()
  await browser?.startTracing(page, { categories: [category] })
  await act()
  // What an act has changed is styled with the next frame at the latest.
  await page.evaluate(() => new Promise((end) => requestAnimationFrame(() => setTimeout(end))))
  const trace = JSON.parse(String(await browser?.stopTracing())) as { traceEvents: TraceEvent[] }
  return trace.traceEvents
}
