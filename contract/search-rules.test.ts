import { expect, test } from 'vitest'
import { pageOf, searchTitle } from './search-rules.ts'

test('the title of a search begins with the words', () => {
  expect(searchTitle('стены')).toBe('Поиск: стены')
  expect(searchTitle('')).toBe('Поиск')
})

test('a page of found posts has no known number of pages', () => {
  const page = { firstPage: 1, lastPage: 1, total: 0, nextCursor: 'далее' }
  expect(pageOf({ posts: [], nextCursor: 'далее' })).toEqual({ ...page, posts: [] })
})
