import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  cursorAt,
  cursorIn,
  isOldestFirst,
  oppositeCursor,
  PATHS,
  pageAfter,
  pageAt,
  pageTitle,
  searchIn,
  searchPath,
  withCursor,
} from './pages.ts'

test('a page is titled with the app name, which stands alone if the page has no title', () => {
  expect(pageTitle('Стена', 'Вслух')).toBe('Стена - Вслух')
  for (const title of [undefined, '']) expect(pageTitle(title, 'Вслух')).toBe('Вслух')
})

test.each([
  ['/', 'wall', '/'],
  ['//', 'wall', '/'],
  ['/%72ules', 'rules', '/rules'],
  ['/Settings/Account/Email/', 'email', '/settings/account/email'],
  ['/Posts/5/', 'post', '/posts/5'],
  ['/posts/%35', 'post', '/posts/5'],
  ['/posts/%20', 'post', '/posts/%20'],
])('%s is the page %s, whose address is %s', (path, name, spelled) => {
  expect(pageAt(path)).toMatchObject({ name, path: spelled })
})

test.each([
  ['/users/olga', { name: 'author', path: '/users/olga', username: 'olga' }],
  ['/Users/%6flga/', { name: 'author', path: '/users/olga', username: 'olga' }],
  ['/users/olga/REPLIES', { name: 'authorReplies', path: '/users/olga/replies', username: 'olga' }],
])('%s is the page of an author', (path, page) => {
  expect(pageAt(path)).toEqual(page)
})

test.each(['', '///', '/rules//', '/posts/', '/posts/%zz', '/%'])('%s is no page', (path) => {
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

test('a page of a list is requested with its cursor, and the first page without one', () => {
  expect(pageAfter('')).toEqual({ limit: 10 })
  expect(pageAfter('', 5)).toEqual({ limit: 5 })
  expect(pageAfter('x', 5)).toEqual({ limit: 5, cursor: 'x' })
  expect(withCursor('/liked', '')).toBe('/liked')
  expect(withCursor('/liked', 'a&b')).toBe('/liked?cursor=a%26b')
  expect(withCursor('/search?q=x', '7')).toBe('/search?q=x&cursor=7')
})

test('a cursor and its opposite, which alone leads to newer posts, read the two sides of one place', () => {
  expect(cursorAt('9007199254740992')).toBe('9007199254740993')
  expect(oppositeCursor('9007199254740993')).toBe('oldest-9007199254740992')
  expect(oppositeCursor('oldest-9007199254740992')).toBe('9007199254740993')
  const cursors = ['oldest-5', '5', 'not-oldest-', '']
  expect(cursors.map(isOldestFirst)).toEqual([true, false, false, false])
})

test('the words of a search go into its address and come back without the spaces around', () => {
  expect(searchPath('')).toBe('/search')
  expect(searchPath('стены & снег')).toBe(`/search?${new URLSearchParams({ q: 'стены & снег' })}`)
  expect(searchIn(searchPath(' стены & снег ').slice('/search'.length))).toBe('стены & снег')
  expect(searchIn('?a=1')).toBe('')
})
