import fc from 'fast-check'
import { renderToString } from 'react-dom/server'
import { expect, test } from 'vitest'
import { drawTile, Monogram } from './monogram.tsx'

const names = fc.stringMatching(/^[A-Za-z0-9_]{5,32}$/)

test('a tile takes at most 300 bytes of HTML, and has no style attribute', () => {
  fc.assert(
    fc.property(names, (name) => {
      const html = renderToString(<Monogram name={name} />)
      expect(html.length).toBeLessThanOrEqual(300)
      expect(html).not.toContain('style')
    }),
  )
})

test('a name always has the same tile, in any letter case', () => {
  fc.assert(
    fc.property(names, (name) => {
      expect(drawTile(name.toUpperCase())).toEqual(drawTile(name.toLowerCase()))
    }),
  )
})

test('the bricks fill the tile, and no joint stands above another', () => {
  fc.assert(
    fc.property(names, (name) => {
      const { tone, pale, tinted, full } = drawTile(name)
      expect(tone).toBeGreaterThanOrEqual(1)
      expect(tone).toBeLessThanOrEqual(8)
      const bricks = [...`${pale}${tinted}${full}`.matchAll(/M(\d+) (\d+)h(\d+)/g)]
      const rows = [0, 9, 18, 27].map((y) => bricks.filter(([, , top]) => top === String(y)))
      const joints = rows.map((row) => row.map(([, x]) => Number(x)).filter((x) => x > 0))
      rows.forEach((row, at) => {
        const width = row.reduce((sum, [, , , length]) => sum + Number(length), 0)
        expect(width).toBe(36 - (joints[at]?.length ?? 0))
        expect(joints[at]?.filter((x) => joints[at + 1]?.includes(x))).toEqual([])
      })
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
