import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cursorIn, PATHS, pageAt, pageTitle } from './pages.ts'

test('joins the title and the app name', () => {
  expect(pageTitle('Стена', 'Вслух')).toBe('Стена - Вслух')
})

test.each([undefined, ''])('without a title (%s) only the app name is left', (title) => {
  expect(pageTitle(title, 'Вслух')).toBe('Вслух')
})

test.each([
  ['/', 'wall', '/'],
  ['//', 'wall', '/'],
  ['/Rules', 'rules', '/rules'],
  ['/ABOUT/', 'about', '/about'],
  ['/%72ules', 'rules', '/rules'],
  ['/Settings/Account/Email/', 'email', '/settings/account/email'],
  ['/Posts/5/', 'post', '/posts/5'],
  ['/posts/%35', 'post', '/posts/5'],
  ['/posts/%20', 'post', '/posts/%20'],
  ['/MODERATION', 'moderation', '/moderation'],
])('%s is the page %s, whose address is %s', (path, name, spelled) => {
  expect(pageAt(path)).toMatchObject({ name, path: spelled })
})

test.each([
  '',
  '///',
  '/rules//',
  '//rules',
  '/posts',
  '/posts/',
  '/posts/5/6',
  '/posts/%zz',
  '/%',
])('%s is no page', (path) => {
  expect(pageAt(path)).toBeNull()
})

test('the address of a page names the same page, and no other site', () => {
  const part = fc.constantFrom(
    '/',
    '//',
    '%2F',
    '\\',
    'evil.example',
    'posts',
    '5',
    '%35',
    '..',
    '@',
  )
  const pieces = fc.oneof(fc.constantFrom(...Object.values(PATHS), 'POSTS'), part, fc.string())
  fc.assert(
    fc.property(fc.array(pieces), (path) => {
      const page = pageAt(`/${path.join('')}`)
      if (page === null) return
      expect(page.path).toMatch(/^\/(?!\/)/)
      expect(pageAt(page.path)).toEqual(page)
    }),
  )
})

test.each([
  ['', ''],
  ['?cursor=', ''],
  ['?a=1', ''],
  ['?cursor=x&cursor=y', 'x'],
  ['a=1&cursor=%2B', '+'],
])('the cursor in «%s» is «%s»', (query, cursor) => {
  expect(cursorIn(query)).toBe(cursor)
})
