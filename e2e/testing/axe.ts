import { readFileSync } from 'node:fs'
import type { Result, RunOptions } from 'axe-core'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'

/** A page reads the minified script in half the time. */
const AXE = readFileSync(new URL(import.meta.resolve('axe-core/axe.min.js')), 'utf8')

/** Checks a page in the dark theme. Only colours differ in the light one, and are tested as tokens. */
export async function expectNoBarrier(page: Page, where: string): Promise<void> {
  const violations = await graveViolations(page, {
    rules: { 'target-size': { enabled: true } },
    // The details of what passes would take almost half of the time.
    resultTypes: ['violations'],
  })
  expect(await page.evaluate(emptyRegions), `${where}: a screen reader stops there`).toEqual([])
  const others = violations.filter(({ id }) => id !== 'target-size')
  expectNone(others, where)
  const small = violations.filter((it) => !others.includes(it))
  // In the middle of the screen no bar covers a target.
  for (const { target } of small.flatMap(({ nodes }) => nodes)) {
    const selector = String(target[0])
    await page.locator(selector).evaluate((it) => it.scrollIntoView({ block: 'center' }))
    expectNone(await graveViolations(page, { runOnly: 'target-size' }, selector), where)
  }
}

async function graveViolations(
  page: Page,
  options: RunOptions,
  selector = 'html',
): Promise<Result[]> {
  await expect.poll(() => page.evaluate(runningAnimations)).toBe(0)
  // The script is large: a page gets it once.
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(AXE)
  const { violations, passed } = await page.evaluate(runAxe, { selector, options })
  expect(passed).toBeGreaterThan(0)
  return violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
}

async function runAxe({ selector, options }: { selector: string; options: RunOptions }) {
  const { run } = Reflect.get(window, 'axe') as typeof import('axe-core')
  const { violations, passes } = await run(selector, options)
  return { violations, passed: passes.length }
}

function expectNone(violations: Result[], where: string): void {
  const found = violations.map(
    ({ id, nodes }) => `${where}: ${id}: ${nodes.map(({ html }) => html).join(' | ')}`,
  )
  expect(found).toEqual([])
}

/** Returns the regions of announcements in which nothing is: readers name the role of each. */
function emptyRegions(): string[] {
  return [...document.querySelectorAll('[role="status"], [role="alert"]')]
    .filter((it) => it.textContent === '' && !it.hasAttribute('aria-label'))
    .map(({ outerHTML }) => outerHTML)
}

function runningAnimations(): number {
  return document.getAnimations().filter(({ playState, timeline }) => {
    return playState === 'running' && timeline === document.timeline
  }).length
}
