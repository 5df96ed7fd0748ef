import { expect } from 'vitest'
import type { TabDriver } from './driven-browser.ts'

export type BrowserTab = ReturnType<typeof createTab>

/**
 * What a person does in a tab of any browser. Elements are found by a CSS selector and a part of their accessible name or
 * text; of several the first visible one counts. Everything waits until it is possible.
 */
export function createTab(driver: TabDriver) {
  /** Runs a function in the page, which sees nothing but its arguments, and returns what it returns. */
  function evaluate<Args extends unknown[], Result>(
    run: (...args: Args) => Result,
    ...args: Args
  ): Promise<Awaited<Result>> {
    const values = args.map((value) => JSON.stringify(value)).join()
    return driver.evaluate(`(${run})(${values})`) as Promise<Awaited<Result>>
  }

  /** Waits for an element that can be seen, or until none can. */
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

    /** Clicks an element in its middle, once it stands still there with nothing above it. */
    async click(css: string, name = ''): Promise<void> {
      const seen: string[] = []
      await expect
        .poll(
          async () => {
            const place = JSON.stringify(await evaluate(placeOf, css, name))
            const stands = place !== 'null' && place === seen.at(-1)
            seen.push(place)
            return stands
          },
          { message: `A place to click «${css}» with «${name}»` },
        )
        .toBe(true)
      const { x, y } = JSON.parse(seen.at(-1) ?? '')
      await driver.clickAt(x, y)
    },

    /** Presses the browser's back button. */
    back: () => evaluate(() => history.back()),

    /** Loads the page anew and waits until its scripts run. */
    async reload(): Promise<void> {
      await evaluate(() => {
        document.documentElement.dataset.former = ''
        location.reload()
      })
      await waitFor('html:not([data-former], [data-static])')
    },
  }
}

function isShown(css: string, name: string): boolean {
  const all = [...document.querySelectorAll<HTMLElement>(css)]
  return all.some((it) => it.checkVisibility() && (it.ariaLabel ?? it.innerText).includes(name))
}

/** The middle of an element; null while it is disabled or cannot be clicked there, and then it is brought into view. */
function placeOf(css: string, name: string): { x: number; y: number } | null {
  const all = [...document.querySelectorAll<HTMLElement>(css)]
  const element = all.find(
    (it) => it.checkVisibility() && (it.ariaLabel ?? it.innerText).includes(name),
  )
  if (!element || element.matches(':disabled')) return null
  const { left, top, width, height } = element.getBoundingClientRect()
  const [x, y] = [Math.round(left + width / 2), Math.round(top + height / 2)]
  const hit = document.elementFromPoint(x, y)
  if (hit && element.contains(hit)) return { x, y }
  element.scrollIntoView({ block: 'center', behavior: 'instant' })
  return null
}
