import { expect, expectTypeOf, test } from 'vitest'
import { type FirstPage, OPEN_SITE } from '../../contract/pages.ts'
import { createRenderer } from './entry-server.tsx'

test('pages do not mix, because each rendering ends before the next begins', async () => {
  const render = await createRenderer({ appName: 'Вслух', editPeriodSeconds: 600 })
  expectTypeOf(render).returns.toEqualTypeOf<string>()
  const pageOf = (title: string, writingClosed: string | null): FirstPage => ({
    ...{ now: 1000, shows: 'text', name: 'rules' },
    site: { ...OPEN_SITE, writingClosed },
    text: { title, html: `<p>Здесь ${title}</p>` },
  })
  const pages = [pageOf('порядок', 'переезжаем'), pageOf('свобода', null)]
  const [order = '', freedom, again] = [...pages, ...pages].map((page) => render('/rules', page))
  expect(order).toContain('Писать пока нельзя: <!-- -->переезжаем')
  expect(order).toMatch(/>порядок<\/h1>.*<p>Здесь порядок/s)
  expect(order).not.toContain('свобода')
  expect(freedom).toMatch(/>свобода<\/h1>.*<p>Здесь свобода/s)
  expect(freedom).not.toMatch(/переезжаем|порядок/)
  expect(again).toBe(order)
})
