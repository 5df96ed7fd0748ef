import { expect } from 'vitest'
import { enterDigits } from './testing/hands.ts'
import { desktopTest as test } from './testing/journey.ts'
import { openThread, postWith } from './testing/page/feed.ts'
import { askForCode, otherThan, signInDialog } from './testing/sign-in-actions.ts'

test('a page that the browser translates keeps working', async ({ journey, olga, petr }) => {
  await journey.publish(olga, 'Первая')
  const page = await journey.visit()
  await page.evaluate(translate)
  await postWith(page, 'ПЕРВАЯ').waitFor()
  await openThread(page, 'ПЕРВАЯ')
  await page.goBack()
  await postWith(page, 'ПЕРВАЯ').waitFor()

  await askForCode(page, petr.email)
  const { code, error } = signInDialog(page)
  const wrong = otherThan(await journey.nextCode(petr.email))
  await enterDigits(code, wrong)
  await expect.poll(() => error.textContent()).toContain('Неверный код')
  await enterDigits(code, wrong)
  await expect.poll(() => error.textContent()).toContain('Осталось 3 попытки')
})

/** Replaces text nodes by elements, now and later, as translators do. */
function translate(): void {
  const replaceIn = (root: Node) => {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT)
    const found: Node[] = []
    for (let node = walker.nextNode(); node; node = walker.nextNode()) found.push(node)
    for (const node of found) {
      const parent = node.parentElement
      const isKept = !parent?.translate || parent.closest('font, script, style, textarea')
      if (isKept || !/\p{L}/u.test(node.textContent ?? '')) continue
      const font = document.createElement('font')
      font.textContent = (node.textContent ?? '').toUpperCase()
      parent.replaceChild(font, node)
    }
  }
  replaceIn(document.body)
  const observer = new MutationObserver((changes) => {
    for (const { target } of changes) replaceIn(target)
  })
  observer.observe(document.body, { childList: true, subtree: true, characterData: true })
}
