import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { postPath } from '../contract/pages.ts'
import type { PostPage } from '../contract/posts.ts'
import { startDemo } from '../demo/start-demo.ts'
import { launchFullChromium } from '../e2e/testing/chromium.ts'
import { whenScriptsRun } from '../e2e/testing/when-scripts-run.ts'
import { freePort } from '../server/testing/free-port.ts'
import { buildWebIfNeeded } from './build-web-if-needed.ts'

// Draws the icons of the installed app and the picture of link previews, and takes the screenshots
// of the demo that the README and browsers show: `npm run pictures`. The files are committed,
// because drawing them needs Chromium. The manifest names their sizes.

const PUBLIC = join(import.meta.dirname, '../web/public')
const FONT =
  '../node_modules/@fontsource-variable/golos-text/files/golos-text-cyrillic-wght-normal.woff2'
const LOGO = readFileSync(join(PUBLIC, 'favicon.svg'), 'utf8')
const GROUND = '#131211'
/** The mark's share of an icon's width. Systems may cut a maskable icon to a circle of 80%. */
const MARK = { any: 0.8, maskable: 0.58 }
/** The width of a tab's icon on dense screens, in px. */
const FAVICON = 32
const NARROW = { width: 390, height: 844 }
const PREVIEW = { width: 1200, height: 630 }
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

for (const size of [192, 512]) {
  await drawIcon(`icon-${size}.png`, size, MARK.any)
  await drawIcon(`icon-maskable-${size}.png`, size, MARK.maskable)
}
await drawFavicon()
await drawPreview()
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

async function drawIcon(file: string, size: number, share: number): Promise<void> {
  const page = await browser.newPage({ viewport: { width: size, height: size } })
  const width = Math.round(size * share)
  await page.setContent(
    `<style>body{margin:0;height:100vh;display:grid;place-items:center;background:${GROUND}}svg{width:${width}px}</style>${LOGO}`,
  )
  writeFileSync(join(PUBLIC, file), await page.screenshot())
  await page.close()
}

/** Draws an ICO file with one PNG behind a header of 22 bytes, for browsers without SVG icons. */
async function drawFavicon(): Promise<void> {
  const page = await browser.newPage({ viewport: { width: FAVICON, height: FAVICON } })
  await page.setContent(`<style>body{margin:0}svg{display:block}</style>${LOGO}`)
  const png = await page.screenshot({ omitBackground: true })
  await page.close()
  const header = Buffer.alloc(22)
  header.writeUInt16LE(1, 2)
  header.writeUInt16LE(1, 4)
  header.writeUInt8(FAVICON, 6)
  header.writeUInt8(FAVICON, 7)
  header.writeUInt16LE(1, 10)
  header.writeUInt16LE(32, 12)
  header.writeUInt32LE(png.length, 14)
  header.writeUInt32LE(header.length, 18)
  writeFileSync(join(PUBLIC, 'favicon.ico'), Buffer.concat([header, png]))
}

/** Draws the picture of link previews in the dark theme of web/ui/tokens.css. */
async function drawPreview(): Promise<void> {
  const font = readFileSync(join(import.meta.dirname, FONT), 'base64')
  const page = await browser.newPage({ viewport: PREVIEW })
  await page.setContent(`<!doctype html><html lang="ru"><meta charset="utf-8"><style>
@font-face { font-family: Golos; font-weight: 400 900; src: url(data:font/woff2;base64,${font}) }
body { margin: 0; height: ${PREVIEW.height}px; display: grid; place-content: center start; gap: 28px;
  padding-left: 110px; font-family: Golos; background: ${GROUND}; color: #ece8e3 }
div { display: flex; align-items: center; gap: 40px }
svg { width: 150px }
h1 { margin: 0; font-size: 168px; font-weight: 700; line-height: 1.2; letter-spacing: -0.02em }
p { margin: 0; font-size: 50px; color: #a09990 }
</style><div>${LOGO}<h1>Вслух</h1></div><p>Стена коротких текстовых записей</p></html>`)
  await page.evaluate('document.fonts.ready')
  writeFileSync(join(PUBLIC, 'preview.png'), await page.screenshot())
  await page.close()
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
