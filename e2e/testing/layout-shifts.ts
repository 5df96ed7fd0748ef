import type { Page } from 'playwright-core'

/** TypeScript does not know the entries of https://wicg.github.io/layout-instability/. */
type Shift = PerformanceEntry & {
  value: number
  sources: { node: Node | null; previousRect: DOMRectReadOnly; currentRect: DOMRectReadOnly }[]
}

/** Records layout shifts of pages opened from now on, even after a key press. */
export async function recordShifts(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const shifts: number[] = []
    const moved: string[] = []
    Object.assign(window, { shifts, moved })
    const placeOf = ({ x, y, width, height }: DOMRectReadOnly) => `${x},${y} ${width}×${height}`
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as Shift[]) {
        shifts.push(entry.value)
        for (const { node, previousRect, currentRect } of entry.sources) {
          const name = node instanceof Element ? `${node.nodeName}.${node.className}` : '#text'
          moved.push(`${name} from ${placeOf(previousRect)} to ${placeOf(currentRect)}`)
        }
      }
    }).observe({ type: 'layout-shift', buffered: true })
  })
}

export function sumOfShifts(page: Page): Promise<number> {
  return page.evaluate(() =>
    (Reflect.get(window, 'shifts') as number[]).reduce((sum, shift) => sum + shift, 0),
  )
}

/** Returns what moved, and from where to where, in lines. */
export function describeShifts(page: Page): Promise<string> {
  return page.evaluate(() => (Reflect.get(window, 'moved') as string[]).join('\n'))
}
