import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PNG } from 'pngjs'
import { describe, expect, test } from 'vitest'
import { encodePalettePng } from './palette-png.ts'
import { compareWithPicture } from './picture.ts'

const NAME = 'wall-phone-dark'
const file = readFileSync(join(import.meta.dirname, 'expected', `${NAME}.png`))

describe.skipIf(process.env.RENEW_PICTURES === '1')('a committed picture', () => {
  test('matches itself, and no picture of another size', () => {
    expect(compareWithPicture(NAME, file)).toBe(null)
    expect(compareWithPicture(NAME, encodePalettePng(cut(0, 1)))).toMatch(/^390×843 instead of/)
  })

  test('differs from the same screen three pixels further down', () => {
    expect(compareWithPicture(NAME, encodePalettePng(cut(3, 0)))).toMatch(/^\d+ pixels differ/)
  })
})

test('a picture of many colours keeps the frequent ones, and gets the nearest for the others', () => {
  const picture = new PNG({ width: 300, height: 2 })
  for (const [index] of picture.data.entries()) {
    // The upper row has 300 greenish colours, each once, and the lower row one colour.
    const channel = index % 4
    const column = Math.floor(index / 4) % 300
    const above = [column % 2, Math.floor(column / 2), 0, 255]
    picture.data[index] = (index < 1200 ? above : [200, 10, 10, 255])[channel] ?? 0
  }
  const { data, width, height } = PNG.sync.read(encodePalettePng(picture))
  expect([width, height]).toEqual([300, 2])
  expect([...data.subarray(1200, 1204)]).toEqual([200, 10, 10, 255])
  const distances = data.map((value, index) => Math.abs(value - (picture.data[index] ?? 0)))
  expect(Math.max(...distances)).toBeLessThanOrEqual(25)
})

/**
 * The committed picture without its first rows, with rows of the ground below instead, and without
 * the last rows.
 */
function cut(above: number, below: number): PNG {
  const whole = PNG.sync.read(file)
  const { width, height } = whole
  const picture = new PNG({ width, height: height - below, fill: true })
  PNG.bitblt(whole, picture, 0, above, width, height - above - below, 0, 0)
  return picture
}
