import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pixelmatch from 'pixelmatch'
import { PNG } from 'pngjs'

const EXPECTED = join(import.meta.dirname, 'expected')
const DIFFERENT = join(tmpdir(), 'vslukh-looks')
/** The share of pixels that may differ: less than a short word, more than the smoothing. */
const SHARE_MAX = 0.0003
/** How far a colour may be from the expected one, from 0 to 1: less than a line between posts. */
const THRESHOLD = 0.05

/**
 * Returns null if the screenshot looks the same, otherwise a sentence that states how it differs.
 * With `npm run test:looks -- -u` a screenshot that differs becomes the picture instead.
 */
export function compareWithPicture(name: string, screenshot: Buffer): string | null {
  const path = join(EXPECTED, `${name}.png`)
  const difference = existsSync(path) ? differenceFrom(path, name, screenshot) : `no ${path}`
  if (difference === null || process.env.RENEW_PICTURES !== '1') return difference
  writeFileSync(path, screenshot)
  return null
}

function differenceFrom(path: string, name: string, screenshot: Buffer): string | null {
  const actual = PNG.sync.read(screenshot)
  const expected = PNG.sync.read(readFileSync(path))
  const { width, height } = expected
  if (width !== actual.width || height !== actual.height) {
    return `${actual.width}×${actual.height} instead of ${width}×${height}: ${keep(name, screenshot)}`
  }
  const marked = new PNG({ width, height })
  const options = { threshold: THRESHOLD }
  const count = pixelmatch(expected.data, actual.data, marked.data, width, height, options)
  if (count <= width * height * SHARE_MAX) return null
  keep(`${name}.marked`, PNG.sync.write(marked))
  return `${count} pixels differ: ${keep(name, screenshot)}`
}

function keep(name: string, picture: Buffer): string {
  mkdirSync(DIFFERENT, { recursive: true })
  const path = join(DIFFERENT, `${name}.png`)
  writeFileSync(path, picture)
  return path
}
