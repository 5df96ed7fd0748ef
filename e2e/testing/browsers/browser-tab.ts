import { expect } from 'vitest'
import type { TabDriver } from './driven-browser.ts'

export type BrowserTab = ReturnType<typeof createTab>

/**
 * Finds elements by a CSS selector and a part of their label or text, and takes the first
 * visible one. All actions wait until they are possible.
 */
export function createTab(driver: TabDriver) {
  /** Runs a function in the page. It has access to its arguments only. */
  function evaluate<Args extends unknown[], Result>(
    run: (...args: Args) => Result,
    ...args: Args
  ): Promise<Awaited<Result>> {
    const values = args.map((value) => JSON.stringify(value)).join()
    return driver.evaluate(`(${run})(${values})`) as Promise<Awaited<Result>>
  }

  async function waitFor(css: string, name = '', state: 'shown' | 'gone' = 'shown'): Promise<void> {
    await expect
      .poll(() => evaluate(isShown, css, name), { message: `«${css}» with «${name}»` })
      .toBe(state === 'shown')
  }

  return {
    goto: driver.goto,
    type: driver.type,
    press: driver.press,
    evaluate,
    waitFor,

    /** Clicks the middle of an element when it no longer moves, and nothing covers it. */
    async click(css: string, name = ''): Promise<void> {
      const seen: string[] = []
      await expect
        .poll(
          async () => {
            const point = JSON.stringify(await evaluate(pointOf, css, name))
            const stands = point !== 'null' && point === seen.at(-1)
            seen.push(point)
            return stands
          },
          { message: `A point to click «${css}» with «${name}»` },
        )
        .toBe(true)
      const { x, y } = JSON.parse(seen.at(-1) ?? '')
      await driver.clickAt(x, y)
    },

    back: () => evaluate(() => history.back()),

    async reload(): Promise<void> {
      await driver.goto(await evaluate(() => location.href))
      await waitFor('html:not([data-static])')
    },
  }
}

function isShown(css: string, name: string): boolean {
  const all = [...document.querySelectorAll<HTMLElement>(css)]
  return all.some((it) => it.checkVisibility() && `${it.ariaLabel} ${it.innerText}`.includes(name))
}

/** Returns null while the element is disabled or covered, and brings it into view. */
function pointOf(css: string, name: string): { x: number; y: number } | null {
  const all = [...document.querySelectorAll<HTMLElement>(css)]
  const element = all.find(
    (it) => it.checkVisibility() && `${it.ariaLabel} ${it.innerText}`.includes(name),
  )
  if (!element || element.ariaDisabled) return null
  const { left, top, width, height } = element.getBoundingClientRect()
  const [x, y] = [Math.round(left + width / 2), Math.round(top + height / 2)]
  const hit = document.elementFromPoint(x, y)
  if (hit && element.contains(hit)) return { x, y }
  element.scrollIntoView({ block: 'center', behavior: 'instant' })
  return null
}
