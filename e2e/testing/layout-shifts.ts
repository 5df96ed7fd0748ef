import type { Page } from 'playwright-core'

/** Records layout shifts of pages opened from now on, even after a key press. */
export async function recordShifts(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const shifts: number[] = []
    Reflect.set(window, 'shifts', shifts)
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) shifts.push(Reflect.get(entry, 'value'))
    }).observe({ type: 'layout-shift', buffered: true })
  })
}

export function sumOfShifts(page: Page): Promise<number> {
  return page.evaluate(() =>
    (Reflect.get(window, 'shifts') as number[]).reduce((sum, shift) => sum + shift, 0),
  )
}
