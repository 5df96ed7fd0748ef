import type { Page } from 'playwright-core'

/** Records from now on how far each page that is opened shifts its layout, also after a key press. */
export async function recordShifts(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const shifts: number[] = []
    Reflect.set(window, 'shifts', shifts)
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) shifts.push(Reflect.get(entry, 'value'))
    }).observe({ type: 'layout-shift', buffered: true })
  })
}

/** How far the layout of the page has shifted so far, all shifts together. */
export function sumOfShifts(page: Page): Promise<number> {
  return page.evaluate(() =>
    (Reflect.get(window, 'shifts') as number[]).reduce((sum, shift) => sum + shift, 0),
  )
}
