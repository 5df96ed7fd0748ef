import { AxeBuilder } from '@axe-core/playwright'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'

export function expectNoBarrier(page: Page, where: string): Promise<void> {
  const rules = { 'target-size': { enabled: true } }
  return expectNone(page, new AxeBuilder({ page }).options({ rules }), where)
}

/** Checks by the only rules that a theme can break; its colours are tested one by one, as tokens. */
export async function expectNoBarrierInLight(page: Page, where: string): Promise<void> {
  await showTheme(page, 'light')
  await expectNone(page, new AxeBuilder({ page }).withRules('color-contrast'), `${where}, light`)
  await showTheme(page, 'dark')
}

async function expectNone(page: Page, axe: AxeBuilder, where: string): Promise<void> {
  await expect.poll(() => page.evaluate(runningAnimations)).toBe(0)
  // Without frames there are no results to merge in a separate page, which takes most of the time.
  const { violations, passes } = await axe.setLegacyMode(true).analyze()
  expect(passes.length).toBeGreaterThan(0)
  const grave = violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${where}: ${id}: ${nodes.map(({ html }) => html).join(' | ')}`)
  expect(grave).toEqual([])
}

/** Sets the theme as another tab would: a dialog may cover the toggle. */
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
