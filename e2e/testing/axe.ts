import { AxeBuilder } from '@axe-core/playwright'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'

type Violation = Awaited<ReturnType<AxeBuilder['analyze']>>['violations'][number]

export async function expectNoBarrier(page: Page, where: string): Promise<void> {
  const axe = new AxeBuilder({ page }).options({
    rules: { 'target-size': { enabled: true } },
    // The details of what passes would take almost half of the time.
    resultTypes: ['violations'],
  })
  const violations = await graveViolations(page, axe)
  const { true: small = [], false: others = [] } = Object.groupBy(
    violations,
    ({ id }) => `${id === 'target-size'}` as const,
  )
  expectNone(others, where)
  // In the middle of the screen no bar covers a target.
  for (const { target } of small.flatMap(({ nodes }) => nodes)) {
    const selector = String(target[0])
    await page.locator(selector).evaluate((it) => it.scrollIntoView({ block: 'center' }))
    const again = new AxeBuilder({ page }).withRules('target-size').include(selector)
    expectNone(await graveViolations(page, again), where)
  }
}

/** Checks the only rule that a theme can break. The colours themselves are tested as tokens. */
export async function expectNoBarrierInLight(page: Page, where: string): Promise<void> {
  await showTheme(page, 'light')
  const axe = new AxeBuilder({ page }).withRules('color-contrast')
  expectNone(await graveViolations(page, axe), `${where}, light`)
  await showTheme(page, 'dark')
}

async function graveViolations(page: Page, axe: AxeBuilder): Promise<Violation[]> {
  await expect.poll(() => page.evaluate(runningAnimations)).toBe(0)
  // Pages have no frames, so axe need not merge results in a separate page, which takes most time.
  const { violations, passes } = await axe.setLegacyMode(true).analyze()
  expect(passes.length).toBeGreaterThan(0)
  return violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
}

function expectNone(violations: Violation[], where: string): void {
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
