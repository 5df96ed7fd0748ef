import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pixelmatch from 'pixelmatch'
import { PNG } from 'pngjs'
import { encodePalettePng } from './palette-png.ts'

const EXPECTED = join(import.meta.dirname, 'expected')
/** Each picture that differs stands beside a copy in which red marks the difference. */
const DIFFERENT = join(tmpdir(), 'vslukh-looks')
/** The share of pixels that may differ: less than a word that moves, more than the smoothing. */
const SHARE_MAX = 0.001
/** How far a colour may be from the expected one, from 0 to 1 (pixelmatch). */
const THRESHOLD = 0.1

/**
 * Returns null if the screenshot looks the same, otherwise a sentence that states how it differs.
 * With `npm run test:looks -- -u` it becomes the picture instead.
 */
export function compareWithPicture(name: string, screenshot: Buffer): string | null {
  const actual = PNG.sync.read(screenshot)
  const path = join(EXPECTED, `${name}.png`)
  if (process.env.RENEW_PICTURES === '1') {
    mkdirSync(EXPECTED, { recursive: true })
    writeFileSync(path, encodePalettePng(actual))
    return null
  }
  const expected = PNG.sync.read(readFileSync(path))
  const { width, height } = expected
  if (width !== actual.width || height !== actual.height) {
    return `${actual.width}×${actual.height} instead of ${width}×${height}: ${keep(name, actual)}`
  }
  const marked = new PNG({ width, height })
  const options = { threshold: THRESHOLD }
  const count = pixelmatch(expected.data, actual.data, marked.data, width, height, options)
  if (count <= width * height * SHARE_MAX) return null
  keep(`${name}.marked`, marked)
  return `${count} pixels differ: ${keep(name, actual)}`
}

function keep(name: string, picture: PNG): string {
  mkdirSync(DIFFERENT, { recursive: true })
  const path = join(DIFFERENT, `${name}.png`)
  writeFileSync(path, encodePalettePng(picture))
  return path
}
