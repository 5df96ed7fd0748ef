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
  searchPath,
  searchTextIn,
  withCursor,
} from './pages.ts'

test('a page is titled with the app name, which stands alone if the page has no title', () => {
  expect(pageTitle('Стена', 'Вслух')).toBe('Стена - Вслух')
  for (const title of [undefined, '']) expect(pageTitle(title, 'Вслух')).toBe('Вслух')
})

test.each([
  ['/', { name: 'wall', path: '/' }],
  ['//', { name: 'wall', path: '/' }],
  ['/%72ules', { name: 'rules', path: '/rules' }],
  ['/Settings/Account/Email/', { name: 'email', path: '/settings/account/email' }],
  ['/Posts/5/', { name: 'post', path: '/posts/5', id: '5' }],
  // Copied with the end of the sentence or the quotes around it.
  ['/posts/5.', { name: 'post', path: '/posts/5', id: '5' }],
  ['/posts/5%2C', { name: 'post', path: '/posts/5', id: '5' }],
  ['/posts/5/).', { name: 'post', path: '/posts/5', id: '5' }],
  ['/posts/5»…', { name: 'post', path: '/posts/5', id: '5' }],
  ['/posts/5>', { name: 'post', path: '/posts/5', id: '5' }],
  ['/posts/5`%20', { name: 'post', path: '/posts/5', id: '5' }],
  // Invisible characters that a messenger has put into the link.
  ['/po%C2%ADsts/5%E2%80%8B', { name: 'post', path: '/posts/5', id: '5' }],
  ['/posts/5%E2%81%A0.', { name: 'post', path: '/posts/5', id: '5' }],
  ['/users/olga_,', { name: 'author', path: '/users/olga_', username: 'olga_' }],
  ['/users/olga/replies!', { name: 'authorReplies', path: '/users/olga/replies' }],
  ['/rules)', { name: 'rules', path: '/rules' }],
  ['/posts/%20', { name: 'post', path: '/posts/%20' }],
  ['/Users/%6flga/', { name: 'author', path: '/users/olga', username: 'olga' }],
  ['/users/olga/REPLIES', { name: 'authorReplies', path: '/users/olga/replies', username: 'olga' }],
])('%s is the page %j', (path, page) => {
  expect(pageAt(path)).toMatchObject(page)
})

test.each(['', '///', '/.', '/).', '/rules5.', '/rules//', '/posts/', '/posts/%zz', '/%'])(
  '%s is no page',
  (path) => {
    expect(pageAt(path)).toBeNull()
  },
)

test('the address of a page names the same page, and no other site', () => {
  const parts = ['/', '//', '%2F', '\\', '..', '@', 'evil.example', 'posts', 'POSTS', '%35']
  const known = [Object.values(PATHS), parts].map((some) => fc.constantFrom(...some))
  const pieces = fc.oneof(...known, fc.string())
  fc.assert(
    fc.property(fc.array(pieces), (path) => {
      const page = pageAt(`/${path.join('')}`)
      if (page === null) return
      expect(page.path).toMatch(/^\/(?!\/)/)
      expect(pageAt(page.path)).toEqual(page)
    }),
  )
})

test('a page of a list is requested with its cursor, and the first page without one', () => {
  expect(pageAfter('')).toEqual({ limit: 10 })
  expect(pageAfter('x', 5)).toEqual({ limit: 5, cursor: 'x' })
  const queries = ['', '?cursor=', '?a=1', '?cursor=x&cursor=y', 'a=1&cursor=%2B']
  expect(queries.map(cursorIn)).toEqual(['', '', '', 'x', '+'])
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
  expect(searchTextIn(searchPath(' стены & снег ').slice('/search'.length))).toBe('стены & снег')
  expect(searchTextIn('?a=1')).toBe('')
})
