import type { Locator } from 'playwright-core'
import { launchFullChromium } from '../e2e/testing/browsers/chromium.ts'
import { createProductClient } from '../e2e/testing/product.ts'
import { dataSetOf } from './data-set.ts'
import { quantile } from './load.ts'
import { startFilledProduct } from './measured-product.ts'
import { goalCell, printMarkdown } from './table.ts'

/**
 * Measures a signed-in user's wall of 10 and of 1,000 posts on a processor slowed four times: how
 * long it takes to open a post or a dialog and to like (INP), and the longest task of going back and
 * of scrolling.
 */
const POSTS = 1000
const SLOWDOWN = 4
const STEP_MS = 100
/** A dialog makes the page inert, so the browser restyles all of it in the task of the tap. */
const DIALOG_MS = 150
const TIMES = 5
const PASSES = 3

await using started = await startFilledProduct(dataSetOf(POSTS * 2))
const { product } = started
await using browser = await launchFullChromium()

const page = await browser.newPage({ viewport: { width: 390, height: 844 } })
await signIn()
const devtools = await page.context().newCDPSession(page)
await page.addInitScript(`
  window.longTasks = []
  window.presses = []
  new PerformanceObserver((list) => {
    for (const { interactionId, duration } of list.getEntries()) if (interactionId) window.presses.push(duration)
  }).observe({ type: 'event', durationThreshold: 16 })
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) window.longTasks.push(duration)
  }).observe({ type: 'longtask' })
`)
await page.goto(product.url)
await page.mouse.move(200, 400)
await page.getByRole('article').first().waitFor()
await measureWall(10)
while ((await page.locator('article').count()) < POSTS) await turnWheel(3000)
await page.evaluate('scrollTo(0, 0)')
await measureWall(POSTS)
await slowDown(SLOWDOWN)
const passes: number[] = []
for (let pass = 1; pass <= PASSES; pass++) {
  await page.evaluate('window.longTasks = []')
  for (let turn = 0; turn < 150; turn++) await turnWheel(pass % 2 ? 900 : -900)
  passes.push(await longestTask())
}
printMarkdown([
  ['reading on, ms', 'longest task', 'goal'],
  ...passes.map((ms, n) => [`pass ${n + 1}`, ms.toFixed(0), goalCell(ms, '≤', STEP_MS)]),
])

async function turnWheel(by: number): Promise<void> {
  await page.mouse.wheel(0, by)
  await page.waitForTimeout(40)
}

async function measureWall(posts: number): Promise<void> {
  await settle()
  await slowDown(SLOWDOWN)
  const newPost = page.locator('nav button', { hasText: 'Новая запись' }).last()
  const reply = page.locator('[data-action="reply"]').first()
  const steps: [name: string, goal: number, step: () => Promise<number>, taken: number[]][] = [
    ['opening a post', STEP_MS, openPost, []],
    ['going back, its longest task', STEP_MS, () => goBack(posts), []],
    ['the dialog of a new post', DIALOG_MS, () => openDialog(newPost), []],
    ['that of a reply', DIALOG_MS, () => openDialog(reply), []],
    ['a like', STEP_MS, likePost, []],
  ]
  for (let time = 0; time < TIMES; time++) {
    for (const [, , step, taken] of steps) taken.push(await step())
  }
  await slowDown(1)
  printMarkdown([
    [`${posts} posts, ms`, 'median', 'goal', 'worst'],
    ...steps.map(([name, goal, , taken]) => {
      const median = quantile(taken, 0.5)
      return [name, median.toFixed(0), goalCell(median, '≤', goal), Math.max(...taken).toFixed(0)]
    }),
  ])
}

function openPost(): Promise<number> {
  return pressFor(page.locator('article time').first(), page.locator('h2', { hasText: 'Ответы' }))
}

async function goBack(posts: number): Promise<number> {
  await page.evaluate('window.longTasks = []')
  await page.goBack()
  // Not waitForFunction(): the page's policy forbids making functions from text.
  const last = page.locator('article').nth(posts - 1)
  await last.waitFor({ state: 'attached' })
  await settle()
  return longestTask()
}

async function openDialog(button: Locator): Promise<number> {
  const dialog = page.locator('dialog')
  const taken = await pressFor(button, dialog)
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  // The closing is reported late, and would count for the next press.
  await settle()
  return taken
}

async function likePost(): Promise<number> {
  const hearts = '[data-action="like"]'
  const unliked = page.locator('article', { has: page.locator(`${hearts}[aria-pressed="false"]`) })
  const id = await unliked.first().getAttribute('data-post-id')
  const card = page.locator(`article[data-post-id="${id}"]`)
  return pressFor(card.locator(hearts), card.locator(`${hearts}[aria-pressed="true"]`))
}

/**
 * Returns the milliseconds from the press to the next frame. Selectors find both, because finding a
 * role among 1,000 posts takes as long as what is measured.
 */
async function pressFor(button: Locator, shown: Locator): Promise<number> {
  await page.evaluate('window.presses = []')
  await button.click()
  await shown.waitFor()
  await settle()
  return Math.max(0, ...((await page.evaluate('window.presses')) as number[]))
}

/** Returns 0 if none took 50 ms, because browsers report only longer ones. */
async function longestTask(): Promise<number> {
  return Math.max(0, ...((await page.evaluate('window.longTasks')) as number[]))
}

async function signIn(): Promise<void> {
  const user = await createProductClient(product).signUp()
  const [name = '', value = ''] = user.cookie.split('=')
  await page.context().addCookies([{ name, value, url: product.url }])
  await page.addInitScript(`localStorage.setItem('client-token', '${user.clientToken}')`)
}

async function settle(): Promise<void> {
  await page.evaluate('new Promise((resolve) => requestIdleCallback(resolve, { timeout: 5000 }))')
  await page.waitForTimeout(500)
}

async function slowDown(rate: number): Promise<void> {
  await devtools.send('Emulation.setCPUThrottlingRate', { rate })
}
