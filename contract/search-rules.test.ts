import { expect, test } from 'vitest'
import { pageOf, searchTitle } from './search-rules.ts'

test('the title of a search begins with the words', () => {
  expect(searchTitle('стены')).toBe('Поиск: стены')
  expect(searchTitle('')).toBe('Поиск')
})

test('what was found is a page of which nobody knows how many follow', () => {
  const page = { firstPage: 1, lastPage: 1, total: 0, nextCursor: 'далее' }
  expect(pageOf({ posts: [], nextCursor: 'далее' })).toEqual({ ...page, posts: [] })
})
