import { expect, test } from 'vitest'
import { editSecondsLeft } from './post-rules.ts'

const POST = { created_at: 1_800_000_000 }
const PERIOD = 600
const after = (seconds: number) => POST.created_at + seconds

test('a post may be edited at 9:59 after its publication and not at 10:00', () => {
  expect(editSecondsLeft(POST, after(0), PERIOD) > 0).toBe(true)
  expect(editSecondsLeft(POST, after(599), PERIOD) > 0).toBe(true)
  expect(editSecondsLeft(POST, after(599.9), PERIOD) > 0).toBe(true)
  expect(editSecondsLeft(POST, after(600), PERIOD) > 0).toBe(false)
  expect(editSecondsLeft(POST, after(601), PERIOD) > 0).toBe(false)
})

test('the configured period applies', () => {
  expect(editSecondsLeft(POST, after(59), 60) > 0).toBe(true)
  expect(editSecondsLeft(POST, after(60), 60) > 0).toBe(false)
})

test('the countdown starts at the period, even if the browser’s clock is a second behind', () => {
  expect(editSecondsLeft(POST, after(-1), PERIOD)).toBe(600)
  expect(editSecondsLeft(POST, after(-0.5), PERIOD)).toBe(600)
})

test('the countdown shows whole seconds, the last one until the end, and never less than 0', () => {
  expect(editSecondsLeft(POST, after(0), PERIOD)).toBe(600)
  expect(editSecondsLeft(POST, after(0.5), PERIOD)).toBe(600)
  expect(editSecondsLeft(POST, after(599.2), PERIOD)).toBe(1)
  expect(editSecondsLeft(POST, after(600), PERIOD)).toBe(0)
  expect(editSecondsLeft(POST, after(100_000), PERIOD)).toBe(0)
})
