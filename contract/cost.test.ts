import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isEmail } from './account-rules.ts'
import { BODY_MAX, EMAIL_MAX } from './constants.ts'
import { parsePostText } from './text.ts'

/** Every rule of text.ts takes a text of any length. */
const RULES = Object.values(await import('./text.ts'))

const MOST_MS = 2
const LITTLE_MS = MOST_MS / 4
/** A busy machine interrupts some runs, and the first ones are not compiled yet. */
const RUNS = 2000

/** Whether the fastest run of `action` takes less than `most` milliseconds; stops at the first that does. */
function takesLessThan(most: number, action: () => void): boolean {
  for (let run = 0; run < RUNS; run++) {
    const began = performance.now()
    action()
    if (performance.now() - began < most) return true
  }
  return false
}

/** Repeats `unit` as often as fits into a body, in UTF-8. */
function fill(unit: string): string {
  return unit.repeat(Math.floor(BODY_MAX / Buffer.byteLength(unit)))
}

/** Characters that are expensive to normalise or match: marks of many classes, marks that NFC splits, joiners, jamo. */
const HOSTILE = [
  ...'\u0301\u0316\u0327\u0334\u0345\u05b0\u064b\u0e38\u3099\u0f73\u0f75\u0f81\u0344\u0489\u20e3',
  ...'\u{1d165}\u093c\u094d\u200d\u2060\u00ad\u034f\ufe0f\u{e0041}\u180e\ufff9\u1100\u1161\u11a8',
  ...'\uac00\ufb2c\u1f82\u{1d160}\u{2f800}\ufdfa\u202e\u2066 \n\u00a0\u2800\u3164aи😀',
  ...['\ud83d', '\ude00'],
]
const hostileUnit = fc.oneof(
  fc.string({ unit: fc.constantFrom(...HOSTILE), minLength: 1, maxLength: 70 }),
  fc
    .tuple(fc.constantFrom(...HOSTILE), fc.nat({ max: 600 }), fc.constantFrom(...HOSTILE))
    .map(([one, times, other]) => one.repeat(times) + other),
)

test.each([
  ['marks in falling order', `${'\u0301'.repeat(4000)}${'\u0316'.repeat(4000)}`],
  ['marks of two classes in turn', fill('\u0301\u0316')],
  ['marks that NFC splits', fill('\u0f81\u0f75')],
  ['marks behind joiners', fill(`${'\u0301\u0316'.repeat(16)}\u200d`)],
  ['letters with as many marks as stay', fill(`a${'\u0301'.repeat(8)}`)],
  ['a long run of joiners', `q${fill('\u2060')}\u0301`],
  ['letters that NFC turns into three', fill('\u{1d160}')],
])('16 KiB of %s take at most 2 ms', (_what, text) => {
  const slow = RULES.filter((rule) => !takesLessThan(MOST_MS, () => rule(text)))
  expect(slow.map(({ name }) => name)).toEqual([])
})

test('16 KiB of any repeated characters take at most 2 ms', () => {
  fc.assert(
    fc.property(hostileUnit, (unit) => {
      const text = fill(unit)
      expect(takesLessThan(MOST_MS, () => parsePostText(text))).toBe(true)
    }),
    { numRuns: 300 },
  )
})

test('an address of any 254 characters is checked within half a millisecond', () => {
  const unit = fc.string({ unit: fc.constantFrom(...'@.a \t\u00a0'), minLength: 1 })
  fc.assert(
    fc.property(unit, fc.constantFrom('', ' ', '  ', '.', '@', 'a'), (repeated, end) => {
      const address = repeated.repeat(EMAIL_MAX).slice(0, EMAIL_MAX - end.length) + end
      expect(takesLessThan(LITTLE_MS, () => isEmail(address))).toBe(true)
    }),
  )
  const halves = `${'@'.repeat(125)}${'.'.repeat(125)}  `
  expect(takesLessThan(LITTLE_MS, () => isEmail(halves))).toBe(true)
})
