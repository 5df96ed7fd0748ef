import { AxeBuilder } from '@axe-core/playwright'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'

export async function expectNoBarrier(page: Page, where: string): Promise<void> {
  await expectNone(page, new AxeBuilder({ page }), where)
  await expectLargeTargets(page, where)
}

/** A control that a bar covers in part is looked at again in the middle of the screen. */
async function expectLargeTargets(page: Page, where: string): Promise<void> {
  const small = await findSmallTargets(page)
  const scrolledTo = await page.evaluate(() => scrollY)
  const stillSmall: string[] = []
  for (const { target } of small) {
    const selector = String(target[0])
    await page.locator(selector).evaluate((it) => it.scrollIntoView({ block: 'center' }))
    for (const { html } of await findSmallTargets(page, selector)) stillSmall.push(html)
  }
  if (small.length > 0) await page.evaluate((top) => scrollTo(0, top), scrolledTo)
  expect(stillSmall, `${where}: target-size`).toEqual([])
}

async function findSmallTargets(page: Page, selector?: string) {
  const axe = new AxeBuilder({ page }).withRules('target-size')
  if (selector !== undefined) axe.include(selector)
  const { violations } = await axe.setLegacyMode(true).analyze()
  return violations.flatMap(({ nodes }) => nodes)
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
