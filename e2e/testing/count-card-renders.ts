import type { Page } from 'playwright-core'

/** Counts by V8's coverage how often the component of a card is called. */
export async function countCardRenders(page: Page, act: () => Promise<void>): Promise<number> {
  const session = await page.context().newCDPSession(page)
  await session.send('Debugger.enable')
  await session.send('Profiler.enable')
  await session.send('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  await act()
  const { result } = await session.send('Profiler.takePreciseCoverage')
  let renders = 0
  for (const { scriptId, url, functions } of result) {
    if (!url.includes('/assets/')) continue
    const { scriptSource } = await session.send('Debugger.getScriptSource', { scriptId })
    const cards = functions.flatMap(({ functionName, ranges: [range] }) => {
      if (!range || functionName === '') return []
      const source = scriptSource.slice(range.startOffset, range.endOffset)
      return source.includes('aria-posinset') ? [{ size: source.length, count: range.count }] : []
    })
    renders += cards.toSorted((a, b) => a.size - b.size)[0]?.count ?? 0
  }
  await session.detach()
  return renders
}
