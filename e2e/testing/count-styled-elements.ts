import type { Page } from 'playwright-core'

type TraceEvent = { name: string; args: { elementCount?: number } }

/** Counts by a trace how many elements the browser styles, each as often as it does. */
export async function countStyledElements(page: Page, act: () => Promise<void>): Promise<number> {
  const browser = page.context().browser()
  await browser?.startTracing(page, { categories: ['devtools.timeline'] })
  await act()
  // What an act has changed is styled with the next frame at the latest.
  await page.evaluate(() => new Promise((end) => requestAnimationFrame(() => setTimeout(end))))
  const trace = JSON.parse(String(await browser?.stopTracing())) as { traceEvents: TraceEvent[] }
  const updates = trace.traceEvents.filter(({ name }) => name === 'UpdateLayoutTree')
  return updates.reduce((sum, { args }) => sum + (args.elementCount ?? 0), 0)
}
