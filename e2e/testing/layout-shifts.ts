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
    const record = (entries: PerformanceEntryList) => {
      for (const entry of entries as Shift[]) {
        shifts.push(entry.value)
        for (const { node, previousRect, currentRect } of entry.sources) {
          const name = node instanceof Element ? `${node.nodeName}.${node.className}` : '#text'
          moved.push(`${name} from ${placeOf(previousRect)} to ${placeOf(currentRect)}`)
        }
      }
    }
    const observer = new PerformanceObserver((list) => record(list.getEntries()))
    observer.observe({ type: 'layout-shift', buffered: true })
    Object.assign(window, { recordPending: () => record(observer.takeRecords()) })
  })
}

/** Waits until a frame has shown the page as it is. Only what a frame has shown can move. */
export function untilPainted(page: Page): Promise<void> {
  return page.evaluate(async () => {
    for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame)
  })
}

/** Includes the shifts of the next frame, which shows what has just changed. */
export async function sumOfShifts(page: Page): Promise<number> {
  await untilPainted(page)
  return page.evaluate(() => {
    Reflect.get(window, 'recordPending')()
    return (Reflect.get(window, 'shifts') as number[]).reduce((sum, shift) => sum + shift, 0)
  })
}

/** Returns what moved, and from where to where, in lines. */
export function describeShifts(page: Page): Promise<string> {
  return page.evaluate(() => (Reflect.get(window, 'moved') as string[]).join('\n'))
}
