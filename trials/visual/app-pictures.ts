import { join } from 'node:path'
import { postPath } from '../../contract/pages.ts'
import type { PostPage } from '../../contract/posts.ts'
import { startDemo } from '../../demo/start-demo.ts'
import { launchFullChromium } from '../../e2e/testing/browsers/chromium.ts'
import { buildWebIfNeeded } from '../../scripts/build-web-if-needed.ts'
import { freePort } from '../../server/testing/process/free-port.ts'
import { openInOwnFont } from './own-font.ts'

// Takes the screenshots of the demo that the README and browsers show. The manifest names their sizes.

const PUBLIC = join(import.meta.dirname, '../../web/public')
const NARROW = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2 }
const WIDE = { viewport: { width: 1280, height: 800 } }

/** The post whose thread is shown, by its first words. */
const THREAD = 'В отделении тихо'

await buildWebIfNeeded()
await using running = new AsyncDisposableStack()
const browser = running.use(await launchFullChromium())
const demo = await startDemo({ port: String(await freePort()), say() {} })
running.defer(() => demo.stop())

const answer = await fetch(`${demo.url}/api/v1/posts`)
const { posts } = (await answer.json()) as PostPage
const thread = posts.find(({ text }) => text.startsWith(THREAD))

for (const [name, size, path, theme] of [
  ['wall', NARROW, '/', 'dark'],
  ['post', NARROW, postPath(thread?.id ?? ''), 'light'],
  ['wide', WIDE, '/', 'dark'],
] as const) {
  const page = await browser.newPage({ ...size, locale: 'ru-RU', serviceWorkers: 'block' })
  await page.addInitScript((chosen) => {
    localStorage.setItem('theme', chosen)
    // Hides the line for first visits.
    localStorage.setItem('intro-seen', '1')
  }, theme)
  await openInOwnFont(page, demo.url + path)
  await page.getByRole('article').nth(3).waitFor()
  // A phone keeps no room for a scroll bar.
  await page.evaluate('document.documentElement.style.scrollbarGutter = "auto"')
  const file = join(PUBLIC, `screenshot-${name}.webp`)
  await page.screenshot({ path: file, type: 'webp', quality: 80 })
  await page.close()
}
