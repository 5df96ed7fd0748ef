import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { journey, olga, test } from './testing/journey.ts'
import { postWith } from './testing/page-actions.ts'
import { signInButton } from './testing/sign-in-actions.ts'

const TOO_OLD = 'Читать можно и так, а чтобы войти и писать, нужен браузер поновее'

test.each([
  ['lacks what others have since 2024', takeAway],
  ['cannot parse the scripts', spoilScripts],
])(
  'a browser that %s shows the wall, and says that signing in needs a newer one',
  async (_what, before) => {
    await journey.publish(olga, 'Запись для всех')
    const page = await journey.visit({
      waitsForScripts: false,
      expectedErrors: /SyntaxError/,
      before,
    })
    await page.getByText(TOO_OLD).waitFor()
    expect(await postWith(page, 'Запись для всех').isVisible()).toBe(true)
    expect(await signInButton(page).isVisible()).toBe(false)
  },
)

async function takeAway(page: Page): Promise<void> {
  await page.addInitScript(() => {
    Reflect.deleteProperty(Promise, 'withResolvers')
    Reflect.deleteProperty(AbortSignal, 'any')
  })
}

async function spoilScripts(page: Page): Promise<void> {
  await page.route('**/assets/*.js', (route) =>
    route.fulfill({ contentType: 'text/javascript', body: 'let x = class { static { ??? } }' }),
  )
}
