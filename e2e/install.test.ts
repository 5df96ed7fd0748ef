import { expect } from 'vitest'
import { journey, test } from './testing/journey.ts'

test('Chromium finds nothing that keeps the app from being installed', async () => {
  const page = await journey.visit()
  const browser = await page.context().newCDPSession(page)
  const { errors, manifest } = await browser.send('Page.getAppManifest')
  expect(errors).toEqual([])
  expect(manifest).toMatchObject({ id: `${journey.url}/`, display: 'kStandalone' })
  const { installabilityErrors } = await browser.send('Page.getInstallabilityErrors')
  // A test's browser context is a private window.
  const found = installabilityErrors.filter(({ errorId }) => errorId !== 'in-incognito')
  expect(found).toEqual([])
  expect(await page.evaluate(mismatchedPictures)).toEqual([])
})

test('browsers that show no SVG icon find one at its usual address', async () => {
  const icon = await fetch(`${journey.url}/favicon.ico`)
  expect(icon.status).toBe(200)
  expect(icon.headers.get('content-type')).toMatch(/^image\/(?:x-icon|vnd\.microsoft\.icon)/)
})

/** The pictures of the manifest whose type or size differs from what the manifest says. */
async function mismatchedPictures(): Promise<string[]> {
  const { icons, screenshots } = await (await fetch('/manifest.webmanifest')).json()
  const wrong: string[] = []
  for (const { src, sizes, type } of [...icons, ...screenshots]) {
    const picture = await (await fetch(src)).blob()
    if (picture.type !== type) wrong.push(`${src}: ${picture.type}`)
    if (sizes === 'any') continue
    const { width, height } = await createImageBitmap(picture)
    if (sizes !== `${width}x${height}`) wrong.push(`${src}: ${width}x${height}`)
  }
  return wrong
}
