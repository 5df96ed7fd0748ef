import { expect, test } from 'vitest'
import { afterScroll, type ScrollState } from './use-hide-on-scroll.ts'

test.each([
  ['a scroll down hides it', [100, 200], true],
  ['the smallest scroll up shows it', [100, 200, 199], false],
  ['near the top it shows', [30], false],
  ['near the top it shows again', [300, 40], false],
  ['iOS scrolls past the edge', [-50, -10, 0], false],
  ['a trembling finger does not hide it', [100, 90, 92], false],
  ['a slow scroll hides it', [100, 90, 92, 94, 96], true],
])('the bar: %s', (_what, tops, isHidden) => {
  const { hidden } = tops.reduce<ScrollState>(afterScroll, { top: 0, hidden: false })
  expect(hidden).toBe(isHidden)
})
