import axe, { type Result, type RunOptions } from 'axe-core'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'

export async function expectNoBarrier(page: Page, where: string): Promise<void> {
  const violations = await graveViolations(page, {
    rules: { 'target-size': { enabled: true } },
    // The details of what passes would take almost half of the time.
    resultTypes: ['violations'],
  })
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

/** Checks the only rule that a theme can break. The colours themselves are tested as tokens. */
export async function expectNoBarrierInLight(page: Page, where: string): Promise<void> {
  await showTheme(page, 'light')
  expectNone(await graveViolations(page, { runOnly: 'color-contrast' }), `${where}, light`)
  await showTheme(page, 'dark')
}

async function graveViolations(
  page: Page,
  options: RunOptions,
  selector = 'html',
): Promise<Result[]> {
  await expect.poll(() => page.evaluate(runningAnimations)).toBe(0)
  // The script is large: a page gets it once.
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe.source)
  const { violations, passed } = await page.evaluate(runAxe, { selector, options })
  expect(passed).toBeGreaterThan(0)
  return violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
}

async function runAxe({ selector, options }: { selector: string; options: RunOptions }) {
  const { run } = Reflect.get(window, 'axe') as typeof axe
  const { violations, passes } = await run(selector, options)
  return { violations, passed: passes.length }
}

function expectNone(violations: Result[], where: string): void {
  const found = violations.map(
    ({ id, nodes }) => `${where}: ${id}: ${nodes.map(({ html }) => html).join(' | ')}`,
  )
  expect(found).toEqual([])
}

/** Sets the theme as another tab would, because a dialog may cover the toggle. */
async function showTheme(page: Page, theme: 'dark' | 'light'): Promise<void> {
  await page.evaluate((newValue) => {
    dispatchEvent(new StorageEvent('storage', { key: 'theme', newValue }))
  }, theme)
  expect(await page.evaluate(() => document.documentElement.dataset.theme)).toBe(theme)
}

function runningAnimations(): number {
  return document.getAnimations().filter(({ playState, timeline }) => {
    return playState === 'running' && timeline === document.timeline
  }).length
}
