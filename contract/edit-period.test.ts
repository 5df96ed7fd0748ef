import { expect, test } from 'vitest'
import { editSecondsLeft } from './post-rules.ts'

const POST = { created_at: 1_800_000_000 }

test.each([
  // The browser's clock may be behind.
  [-1, 600, 600],
  [0.5, 600, 600],
  [599.9, 600, 1],
  [600, 600, 0],
  [100_000, 600, 0],
  [59, 60, 1],
  [60, 60, 0],
])(
  '%d s after its publication, a post may be edited for %d s in all, thus %d s more',
  (age, period, left) => {
    expect(editSecondsLeft(POST, POST.created_at + age, period)).toBe(left)
  },
)
