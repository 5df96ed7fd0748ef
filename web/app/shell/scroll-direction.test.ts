import { expect, test } from 'vitest'
import { afterScroll, type ScrollState } from './scroll-direction.ts'

const scroll = (...tops: number[]) =>
  tops.reduce<ScrollState>(afterScroll, { top: 0, hidden: false }).hidden

test('hides on the way down', () => {
  expect(scroll(100, 200)).toBe(true)
})

test('comes back on the smallest move up', () => {
  expect(scroll(100, 200, 199)).toBe(false)
})

test('is always there near the top, over-scrolling included', () => {
  expect(scroll(30)).toBe(false)
  expect(scroll(300, 40)).toBe(false)
  expect(scroll(-50, -10, 0)).toBe(false)
})

test('a tremble does not hide it, a slow scroll does', () => {
  expect(scroll(100, 90, 92)).toBe(false)
  expect(scroll(100, 90, 92, 94, 96)).toBe(true)
})
