import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { postPath } from '../contract/pages.ts'
import type { PostPage } from '../contract/posts.ts'
import { startDemo } from '../demo/start-demo.ts'
import { launchFullChromium } from '../e2e/testing/chromium.ts'
import { whenScriptsRun } from '../e2e/testing/when-scripts-run.ts'
import { freePort } from '../server/testing/free-port.ts'
import { buildWebIfNeeded } from './build-web-if-needed.ts'

// Takes the screenshots of the demo that the README and browsers show: `npm run pictures`. The files
// are committed, because taking them needs Chromium. The manifest names their sizes.

const PUBLIC = join(import.meta.dirname, '../web/public')
const NARROW = { width: 390, height: 844 }
const WIDE = { width: 1280, height: 800 }
const WEBP_QUALITY = 80

/** The post whose thread is shown, by its first words. */
const THREAD = 'В отделении тихо'

await buildWebIfNeeded()
await using running = new AsyncDisposableStack()
const browser = await launchFullChromium()
running.defer(() => browser.close())
const demo = await startDemo({ port: String(await freePort()), say() {} })
running.defer(() => demo.stop())

await takeScreenshot('screenshot-wall.webp', { viewport: NARROW, path: '/', theme: 'dark' })
await takeScreenshot('screenshot-post.webp', {
  viewport: NARROW,
  path: await findThread(),
  theme: 'light',
})
await takeScreenshot('screenshot-wide.webp', { viewport: WIDE, path: '/', theme: 'dark' })

async function findThread(): Promise<string> {
  const answer = await fetch(`${demo.url}/api/v1/posts`)
  const { posts } = (await answer.json()) as PostPage
  return postPath(posts.find(({ text }) => text.startsWith(THREAD))?.id ?? '')
}

type Shot = { viewport: { width: number; height: number }; path: string; theme: 'dark' | 'light' }

async function takeScreenshot(file: string, { viewport, path, theme }: Shot): Promise<void> {
  const context = await browser.newContext({
    viewport,
    locale: 'ru-RU',
    serviceWorkers: 'block',
  })
  const page = await context.newPage()
  const devtools = await context.newCDPSession(page)
  await page.addInitScript((chosen) => {
    localStorage.setItem('theme', chosen)
    // Hides the line for first visits.
    localStorage.setItem('intro-seen', '1')
  }, theme)
  await page.goto(demo.url + path)
  await page.evaluate('document.fonts.ready.then(() => undefined)')
  // On a first visit the font may load too late to be used; now it is cached.
  await page.reload()
  // Controls that need scripts appear when these run.
  await whenScriptsRun(page)
  await page.getByRole('article').nth(3).waitFor()
  // A phone keeps no room for a scroll bar.
  await page.evaluate('document.documentElement.style.scrollbarGutter = "auto"')
  const { data } = await devtools.send('Page.captureScreenshot', {
    format: 'webp',
    quality: WEBP_QUALITY,
    clip: { x: 0, y: 0, ...viewport, scale: viewport === NARROW ? 2 : 1 },
  })
  writeFileSync(join(PUBLIC, file), Buffer.from(data, 'base64'))
  await context.close()
}
