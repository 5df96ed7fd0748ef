import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { launchChromium } from '../e2e/testing/chromium.ts'

// `node scripts/draw-preview.ts` draws web/public/preview.png, the picture that link previews show. It needs Chromium, so the
// picture is committed.

const ROOT = join(import.meta.dirname, '..')
const FONT_FILES = join(ROOT, 'node_modules/@fontsource-variable/golos-text/files')
const SIZE = { width: 1200, height: 630 }

const font = await readFile(join(FONT_FILES, 'golos-text-cyrillic-wght-normal.woff2'), 'base64')
const logo = await readFile(join(ROOT, 'web/public/favicon.svg'), 'utf8')

// The dark theme of web/ui/tokens.css.
const page = `<!doctype html><html lang="ru"><meta charset="utf-8"><style>
@font-face { font-family: Golos; font-weight: 400 900; src: url(data:font/woff2;base64,${font}) }
body { margin: 0; height: ${SIZE.height}px; display: grid; place-content: center start; gap: 28px;
  padding-left: 110px; font-family: Golos; background: #131211; color: #ece8e3 }
div { display: flex; align-items: center; gap: 40px }
svg { width: 150px }
h1 { margin: 0; font-size: 168px; font-weight: 700; line-height: 1.2; letter-spacing: -0.02em }
p { margin: 0; font-size: 50px; color: #a09990 }
</style><div>${logo}<h1>Вслух</h1></div><p>Стена коротких текстовых записей</p></html>`

const browser = await launchChromium()
try {
  const tab = await browser.newPage({ viewport: SIZE })
  await tab.setContent(page)
  await tab.evaluate('document.fonts.ready')
  await writeFile(join(ROOT, 'web/public/preview.png'), await tab.screenshot())
} finally {
  await browser.close()
}
