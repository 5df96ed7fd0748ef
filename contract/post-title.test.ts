import { expect, test } from 'vitest'
import { excerpt, postTitle } from './post-rules.ts'

test('the title of a post is its author and its beginning', () => {
  expect(postTitle({ text: 'Стены слышат.', owner: { username: 'olga_v' } })).toBe(
    'olga_v: Стены слышат.',
  )
})

test('a text that fits stays whole, on one line', () => {
  expect(excerpt('Раз\n\n  два\tтри', 11)).toBe('Раз два три')
})

test('a longer text ends with a whole word and an ellipsis, within the limit', () => {
  expect(excerpt('Говорят, стены слышат всё', 17)).toBe('Говорят, стены…')
  expect(excerpt('Говорят, стены слышат всё', 10)).toBe('Говорят…')
  for (let max = 2; max < 30; max++) {
    expect([...excerpt('Говорят, стены слышат всё, что им сказали', max)].length).toBeLessThan(
      max + 1,
    )
  }
})

test('one long word is cut without breaking a character', () => {
  expect(excerpt('😀'.repeat(9), 4)).toBe('😀😀😀…')
})
