import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { tap } from './testing/hands.ts'
import { desktopTest, PHONE } from './testing/journey.ts'
import { openThread, postWith } from './testing/page/feed.ts'
import { scroll } from './testing/page/layout.ts'

desktopTest(
  'a page that a link opens fades in, a return shows at once',
  async ({ journey, olga }) => {
    await journey.fillWall(olga, 30)
    const page = await journey.visit({ viewport: PHONE })
    const fades = await recordFades(page)
    await openThread(page, 'Запись 30')
    await expect.poll(fades.read).toEqual(['fade-in', 'fade-out'])
    await fades.forget()
    await page.goBack()
    await postWith(page, 'Запись 29').waitFor()
    await scroll(page, 4000)
    await postWith(page, 'Запись 15').waitFor()
    expect(await fades.read()).toEqual([])
  },
)

desktopTest('with reduced motion, a page shows at once', async ({ journey, olga }) => {
  await journey.publish(olga, 'Без движения')
  const page = await journey.visit({ reducedMotion: 'reduce' })
  const fades = await recordFades(page)
  await openThread(page, 'Без движения')
  expect(await fades.read()).toEqual([])
})

desktopTest('the header takes taps while a page fades in', async ({ journey, olga }) => {
  await journey.publish(olga, 'Туда и обратно')
  const page = await journey.visit({ viewport: PHONE })
  await page.evaluate(() => {
    const sheet = new CSSStyleSheet()
    sheet.replaceSync('::view-transition-new(.page) { animation-duration: 60s }')
    document.adoptedStyleSheets.push(sheet)
  })
  await openThread(page, 'Туда и обратно')
  await page.waitForFunction(isFading)
  await tap(page.getByRole('banner').getByRole('button', { name: 'Назад' }))
  await page.waitForURL(`${journey.url}/`)
})

function isFading(): boolean {
  return document
    .getAnimations()
    .some(
      (it) => it instanceof CSSAnimation && it.animationName.includes('view-transition-fade-in'),
    )
}

/** Records which animations the parts of pages have. */
async function recordFades(page: Page) {
  await page.evaluate(() => {
    const fades = new Set<string>()
    Reflect.set(window, 'fades', fades)
    addEventListener('animationstart', ({ animationName, pseudoElement }) => {
      const [fade] = /(?<=view-transition-)fade-.*/.exec(animationName) ?? []
      // React ends the animation of the whole document at once.
      if (fade && !pseudoElement.includes('root')) fades.add(fade)
    })
  })
  return {
    read: () => page.evaluate(() => [...(Reflect.get(window, 'fades') as Set<string>)].sort()),
    forget: () => page.evaluate(() => (Reflect.get(window, 'fades') as Set<string>).clear()),
  }
}
