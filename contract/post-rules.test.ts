import { expect, test } from 'vitest'
import { makePost, replyTo } from './post.fixture.ts'
import {
  editSecondsLeft,
  excerpt,
  hasMoreAncestors,
  postIdsOf,
  postTitle,
  threadTitle,
} from './post-rules.ts'

test('a post is titled with its author and its beginning, a thread «Запись» or «Ответ»', () => {
  expect(postTitle({ text: 'Стены слышат.', owner: { username: 'olga_v' } })).toBe(
    'olga_v: Стены слышат.',
  )
  expect(threadTitle({ actions: { replied_post_id: null } })).toBe('Запись')
  expect(threadTitle({ actions: { replied_post_id: '5' } })).toBe('Ответ')
})

test('a text that fits stays whole, on one line; a longer one ends with a whole word and an ellipsis, within the limit', () => {
  expect(excerpt('Раз\n\n  два\tтри', 11)).toBe('Раз два три')
  expect(excerpt('Говорят, стены слышат всё', 17)).toBe('Говорят, стены…')
  expect(excerpt('Говорят, стены слышат всё', 10)).toBe('Говорят…')
  for (let max = 2; max < 30; max++) {
    const title = excerpt('Говорят, стены слышат всё, что им сказали', max)
    expect([...title].length).toBeLessThanOrEqual(max)
  }
})

test('the last word is left out, or cut between characters if at most half the line would remain; no punctuation stays at the end', () => {
  expect(excerpt('пять слово', 8)).toBe('пять сл…')
  expect(excerpt('  пятью слово  ', 9)).toBe('пятью…')
  for (const character of ['😀', '🇷🇺', '👨‍👩‍👧‍👦', '👍🏽', 'е\u0301']) {
    expect(excerpt(character.repeat(9), 4)).toBe(`${character.repeat(3)}…`)
  }
  expect(excerpt('Говорят. — Да, стены слышат', 12)).toBe('Говорят…')
})

test('a reply has more ancestors unless it replies to the first post of the thread', () => {
  const actions = (parent_post_id: string | null, replied_post_id: string | null) =>
    hasMoreAncestors({ actions: { parent_post_id, replied_post_id } })
  expect([actions('1', '2'), actions('1', '1'), actions(null, null)]).toEqual([true, false, false])
})

test('the ids of posts are in the order of their JSON, each before the id of its replied post', () => {
  expect(postIdsOf(makePost('1'))).toEqual(['1'])
  const posts = [makePost('3', replyTo(makePost('2'))), makePost('1')]
  expect(postIdsOf({ posts })).toEqual(['3', '2', '1'])
})

test.each([
  // The browser's clock may be behind.
  [-1, 600],
  [0.5, 600],
  [599.9, 1],
  [600, 0],
  [100_000, 0],
])('%d s after its publication, a post has %d of 600 s left for an edit', (age, left) => {
  expect(editSecondsLeft({ created_at: 1000 }, 1000 + age, 600)).toBe(left)
})
