import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const sheet = readFileSync(new URL('./tokens.css', import.meta.url), 'utf8')

const SURFACES = ['--paper', '--raised', '--sunk', '--hover']

/** [texts, backgrounds of each, smallest contrast] */
test.each([
  [['--ink', '--ink-soft', '--brick', '--danger', '--ok'], SURFACES, 4.5],
  [['--on-brick'], ['--brick-fill', '--brick-fill-hover'], 4.5],
  [['--on-danger'], ['--danger-fill', '--danger-fill-hover'], 4.5],
  [['--brick'], ['--brick-wash'], 4.5],
  [['--on-inverse'], ['--inverse', '--inverse-hover'], 4.5],
  [['--inverse-accent'], ['--inverse'], 4.5],
  // Edges of controls and the focus ring are not text (WCAG 1.4.11).
  [['--line-strong'], SURFACES, 3],
])('in both themes the contrast of %j on %j is at least %d', (texts, backgrounds, ratio) => {
  const pairs = texts.flatMap((text) => backgrounds.map((ground) => [text, ground] as const))
  for (const [text, ground] of pairs) {
    for (const theme of ['light', 'dark'] as const) {
      const found = contrast(colour(text, theme), colour(ground, theme))
      expect(found, `${theme}: ${text} on ${ground}`).toBeGreaterThanOrEqual(ratio)
    }
  }
})

function colour(token: string, theme: 'light' | 'dark'): string {
  const match = sheet.match(new RegExp(`${token}: light-dark\\((#[0-9a-f]{6}), (#[0-9a-f]{6})\\)`))
  const value = match?.[theme === 'light' ? 1 : 2]
  if (!value) throw new Error(`${token} is not an opaque light-dark() pair in tokens.css`)
  return value
}

function contrast(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b)
  return (light + 0.05) / (dark + 0.05)
}

/** Relative luminance as WCAG 2 defines it. */
function luminance(hex: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const channel = Number.parseInt(hex.slice(at, at + 2), 16) / 255
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}
