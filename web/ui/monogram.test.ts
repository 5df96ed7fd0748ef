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

test('names that differ in one letter have different tiles, in eight tones', () => {
  const tiles = Array.from({ length: 2000 }, (_, i) => drawTile(`user_${i}`))
  expect(new Set(tiles.map((tile) => JSON.stringify(tile))).size).toBeGreaterThan(1990)
  expect(new Set(tiles.map(({ tone }) => tone)).size).toBe(8)
})
