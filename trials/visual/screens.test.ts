import type { Page } from 'playwright-core'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { VIEWER } from '../../demo/wall-post.ts'
import { launchFullChromium } from '../../e2e/testing/browsers/chromium.ts'
import { reportByDialog } from '../../e2e/testing/moderation-actions.ts'
import { refuseNews } from '../../e2e/testing/page/network.ts'
import { profileLink } from '../../e2e/testing/sign-in-actions.ts'
import { NOW, startFrozenDemo } from './frozen-demo.ts'
import { openInOwnFont } from './own-font.ts'
import { compareWithPicture } from './picture.ts'
import { SCREENS, type Screen } from './screens.ts'

const DEVICES = {
  phone: { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
  desktop: { viewport: { width: 1280, height: 800 } },
}
/** What the list of devices shows must not change with the version of the browser. */
const USER_AGENT =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36'
/** What the disk and the parts of this machine are like must not change the pictures. */
const STATE = {
  lines: [
    { name: 'Почта', level: 'ok', message: 'писем в очереди: 0, не уходят: 0', fix: null },
    {
      name: 'Копии',
      level: 'warning',
      message: 'копий нет',
      fix: 'Сделайте первую: vslukh backup',
    },
    { name: 'Диск', level: 'ok', message: 'на диске с DATA_DIR свободно 53 ГиБ', fix: null },
    { name: 'База данных', level: 'ok', message: 'таблицы обновлены, прав хватает', fix: null },
    { name: 'Версия', level: 'ok', message: 'Вслух 1.0.0, PostgreSQL 18.4', fix: null },
  ],
}
/** The address of the demo, and the name under which it can be opened too. */
const [NUMBERS, NAME] = ['127.0.0.1', 'localhost']
const LOOKS = (['dark', 'light'] as const).flatMap((theme) =>
  (['phone', 'desktop'] as const).map((device) => ({ theme, device })),
)
type Look = (typeof LOOKS)[number]

const demo = await startFrozenDemo()
const browser = await launchFullChromium()
afterAll(async () => {
  await browser.close()
  await demo.stop()
})
let signingIn: ReturnType<typeof signIn> | undefined

describe.each(SCREENS)('%s', (name, screen) => {
  let preparing: Promise<void> | undefined
  test.each(LOOKS)('matches its picture, $theme on a $device', async (look) => {
    preparing ??= prepare(screen)
    await preparing
    const page = await open(screen, look)
    await screen.show(page)
    expect(compareWithPicture(`${name}-${look.device}-${look.theme}`, await shoot(page))).toBe(null)
  })
})

/** Signs in during the first test that needs it, because hands look at what they have typed. */
function signInOnce() {
  signingIn ??= signIn()
  return signingIn
}

/** Signs in, reports a post and becomes a moderator. Returns the cookies and what is stored. */
async function signIn() {
  const context = await browser.newContext({ userAgent: USER_AGENT })
  const page = await context.newPage()
  await page.goto(demo.signInUrl)
  await page.waitForURL(`${demo.url}/`)
  await reportByDialog(page, { text: '«Библиотека»', comment: 'Так не было' })
  const { code, err } = await demo.command('moderator', 'add', `${VIEWER}@example.org`)
  expect({ code, err }).toEqual({ code: 0, err: '' })
  // Unfolds the reported post for the pictures.
  await page.evaluate(() => localStorage.removeItem('hidden'))
  const state = await context.storageState()
  await context.close()
  return state
}

/** Not in a hook, because hands look at what they have typed. */
async function prepare({ path, isNamed, prepare }: Screen): Promise<void> {
  if (!prepare) return
  const context = await browser.newContext({ storageState: await stateAt(isNamed) })
  const page = await context.newPage()
  await page.goto(addressOf(path, isNamed))
  await prepare(page)
  await context.close()
}

const addressOf = (path: string, isNamed = false) =>
  (isNamed ? demo.url.replace(NUMBERS, NAME) : demo.url) + path

/** Returns what is stored, with cookies of the name if the screen is opened there. */
async function stateAt(isNamed = false): ReturnType<typeof signIn> {
  const state = await signInOnce()
  return isNamed ? JSON.parse(JSON.stringify(state).replaceAll(NUMBERS, NAME)) : state
}

/** Opens a screen in a browser of its own, at NOW, without motion. */
async function open({ path, isSignedIn, isNamed }: Screen, { theme, device }: Look): Promise<Page> {
  const context = await browser.newContext({
    ...DEVICES[device],
    locale: 'ru-RU',
    timezoneId: 'Europe/Moscow',
    reducedMotion: 'reduce',
    ...(isSignedIn && { storageState: await stateAt(isNamed) }),
  })
  onTestFinished(() => context.close())
  await context.addInitScript((chosen) => {
    localStorage.setItem('theme', chosen)
    // Each page is opened as by a new visitor, who sees one line more.
    localStorage.removeItem('intro-seen')
  }, theme)
  const page = await context.newPage()
  await refuseNews(page)
  await page.route('**/api/v1/moderation/state', (route) => route.fulfill({ json: STATE }))
  await page.clock.setFixedTime(NOW)
  await openInOwnFont(page, addressOf(path, isNamed))
  // The parts for signed-in users appear after the page.
  if (isSignedIn) await profileLink(page).waitFor()
  return page
}

/** Takes a picture of what is in sight, once nothing loads any more. */
async function shoot(page: Page): Promise<Buffer> {
  await page.waitForLoadState('networkidle')
  return page.screenshot({ animations: 'disabled', caret: 'hide' })
}
