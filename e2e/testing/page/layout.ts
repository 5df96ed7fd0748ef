import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'

export function boxOf(element: Locator): Promise<DOMRect> {
  return element.evaluate((it) => it.getBoundingClientRect().toJSON())
}

/** Allows one px of rounding in either direction. */
export async function isAt(post: Locator, top: number): Promise<boolean> {
  return Math.abs(Math.round((await boxOf(post)).top) - top) <= 1
}

const FRAMES_TO_LAY_OUT = 10

/** Scrolls repeatedly, because posts above get their true height only some frames later. */
export function bringTo(post: Locator, top: number): Promise<void> {
  const scroll = async (it: Element, { at, frames }: { at: number; frames: number }) => {
    scrollBy(0, it.getBoundingClientRect().top - at)
    for (let frame = 0; frame < frames; frame++) await new Promise(requestAnimationFrame)
  }
  return expect
    .poll(async () => {
      await post.evaluate(scroll, { at: top, frames: FRAMES_TO_LAY_OUT })
      return isAt(post, top)
    })
    .toBe(true)
}

/** Taps without scrolling: click() may scroll to what still moves or what another page covers. */
export function tapInPlace(control: Locator): Promise<void> {
  return control.dispatchEvent('click')
}

/** Returns a function that returns the largest distance (px) of a post from its place since. */
export async function recordMoves(post: Locator): Promise<() => Promise<number>> {
  await post.evaluate((it) => {
    const { top } = it.getBoundingClientRect()
    const moves = { most: 0 }
    Reflect.set(window, 'moves', moves)
    const look = () => {
      moves.most = Math.max(moves.most, Math.abs(it.getBoundingClientRect().top - top))
      if (Reflect.get(window, 'moves') === moves) requestAnimationFrame(afterPaint)
    }
    const afterPaint = () => setTimeout(look)
    afterPaint()
  })
  return () =>
    post.evaluate(async () => {
      for (let frame = 0; frame < 10; frame += 1) await new Promise(requestAnimationFrame)
      return Reflect.get(window, 'moves').most
    })
}

/**
 * Records what a function returns at each frame of the documents that the page loads from now on.
 * Returns a function that returns the different values of the current document.
 */
export async function recordFrames(page: Page, look: () => string | null | undefined) {
  await page.addInitScript(`{
    const seen = (window.seen = new Set())
    const record = () => {
      seen.add((${look})())
      requestAnimationFrame(record)
    }
    requestAnimationFrame(record)
  }`)
  return async () => {
    const seen = await page.evaluate(() => [...(Reflect.get(window, 'seen') as Set<string>)])
    return seen.filter(Boolean)
  }
}

export function readOn(page: Page, count: number): Promise<void> {
  return expect
    .poll(async () => {
      // Repeats, because the end moves as the page grows. A key would scroll smoothly, on into the
      // rest of the test.
      await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight))
      return (await page.getByRole('article').count()) >= count
    })
    .toBe(true)
}

export async function scroll(page: Page, by: number): Promise<void> {
  await page.mouse.move(200, 400)
  await page.mouse.wheel(0, by)
}

export function styleOf(element: Locator, property: string): Promise<string> {
  return element.evaluate((it, name) => getComputedStyle(it).getPropertyValue(name), property)
}
