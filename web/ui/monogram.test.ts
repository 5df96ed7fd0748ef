import fc from 'fast-check'
import { expect, test } from 'vitest'
import { monogramLetter, monogramTone } from './monogram.tsx'

test.each([
  ['olga_v', 'O'],
  ['__nika', 'N'],
  ['7sky', '7'],
  ['ёжик', 'Ё'],
  ['___', '?'],
])('the letter of %s is %s', (name, letter) => {
  expect(monogramLetter(name)).toBe(letter)
})

test('a tone is a whole number from 1 to 6, whatever the case of the name', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[A-Za-z0-9_]{5,32}$/), (name) => {
      expect([1, 2, 3, 4, 5, 6]).toContain(monogramTone(name))
      expect(monogramTone(name.toUpperCase())).toBe(monogramTone(name.toLowerCase()))
    }),
  )
})

test('generated names are spread over all tones, and no tone has more than twice its share', () => {
  const counts = new Map<number, number>()
  for (let i = 0; i < 1200; i++) {
    const tone = monogramTone(`user_${i}`)
    counts.set(tone, (counts.get(tone) ?? 0) + 1)
  }
  expect(counts.size).toBe(6)
  for (const count of counts.values()) expect(count).toBeLessThan(400)
})
