import { expect, test } from 'vitest'
import { editSecondsLeft } from '../../../contract/edit-period.ts'
import { countdown } from './post-time.tsx'

test.each([
  [600, '10:00'],
  [125, '2:05'],
  [60, '1:00'],
  [9, '0:09'],
  [0, '0:00'],
])('%d seconds read %s', (seconds, text) => {
  expect(countdown(seconds)).toBe(text)
})

test('the countdown starts full, reaches zero with the period and stays there', () => {
  const post = { created_at: 1000 }
  expect(countdown(editSecondsLeft(post, 1000, 600))).toBe('10:00')
  expect(countdown(editSecondsLeft(post, 1599, 600))).toBe('0:01')
  expect(countdown(editSecondsLeft(post, 1600, 600))).toBe('0:00')
  expect(countdown(editSecondsLeft(post, 9999, 600))).toBe('0:00')
})
