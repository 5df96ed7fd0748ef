import { expect, test } from 'vitest'
import { afterScroll, type ScrollState } from './use-hide-on-scroll.ts'

const isHiddenAfter = (...tops: number[]) =>
  tops.reduce<ScrollState>(afterScroll, { top: 0, hidden: false }).hidden

test('a scroll down hides the bar', () => {
  expect(isHiddenAfter(100, 200)).toBe(true)
})

test('the smallest scroll up shows it again', () => {
  expect(isHiddenAfter(100, 200, 199)).toBe(false)
})

test('it is never hidden near the top, even when iOS scrolls past the edge', () => {
  expect(isHiddenAfter(30)).toBe(false)
  expect(isHiddenAfter(300, 40)).toBe(false)
  expect(isHiddenAfter(-50, -10, 0)).toBe(false)
})

test('a trembling finger does not hide it, a slow scroll does', () => {
  expect(isHiddenAfter(100, 90, 92)).toBe(false)
  expect(isHiddenAfter(100, 90, 92, 94, 96)).toBe(true)
})
