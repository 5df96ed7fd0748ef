import fc from 'fast-check'
import { expect, test } from 'vitest'
import { drawTile } from './monogram.tsx'

test('a name always has the same tile, in any letter case', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[A-Za-z0-9_]{5,32}$/), (name) => {
      expect(drawTile(name.toUpperCase())).toEqual(drawTile(name.toLowerCase()))
    }),
  )
})

test('names that differ in one letter have different tiles, and all tones are about equally frequent', () => {
  const counts = new Map<number, number>()
  const tiles = new Set<string>()
  for (let i = 0; i < 2000; i++) {
    const tile = drawTile(`user_${i}`)
    tiles.add(JSON.stringify(tile))
    counts.set(tile.tone, (counts.get(tile.tone) ?? 0) + 1)
  }
  expect(tiles.size).toBeGreaterThan(1990)
  expect(counts.size).toBe(8)
  for (const count of counts.values()) expect(count).toBeLessThan(350)
})
