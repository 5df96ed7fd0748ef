import { expect, expectTypeOf, test } from 'vitest'
import { type FirstPage, OPEN_SITE } from '../../contract/pages.ts'
import { createRenderer } from './entry-server.tsx'

const POSTS = { posts: [], firstPage: 1, lastPage: 1, total: 0, nextCursor: null }

test('pages do not mix, because each rendering ends before the next begins', async () => {
  const render = await createRenderer({ appName: 'Вслух', editPeriodSeconds: 600 })
  expectTypeOf(render).returns.toEqualTypeOf<string>()
  const closed: FirstPage = {
    now: 1000,
    site: { ...OPEN_SITE, writingClosed: 'переезжаем' },
    shows: 'wall',
    cursor: '',
    posts: POSTS,
  }
  const rules: FirstPage = {
    now: 2000,
    site: OPEN_SITE,
    shows: 'text',
    name: 'rules',
    text: { title: 'О порядке', html: '<p>Будьте людьми</p>' },
  }
  const [wall, text, again] = [render('/', closed), render('/rules', rules), render('/', closed)]
  expect(wall).toContain('Писать пока нельзя: <!-- -->переезжаем')
  expect(wall).not.toMatch(/О порядке|Будьте людьми/)
  expect(text).toContain('>О порядке</h1>')
  expect(text).toContain('Будьте людьми')
  expect(text).not.toContain('переезжаем')
  expect(again).toBe(wall)
})
