import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const sheet = readFileSync(new URL('./tokens.css', import.meta.url), 'utf8')

type Pair = { text: string; background: string; ratio: number }

const SURFACES = ['--paper', '--raised', '--sunk', '--hover']
const TEXTS = ['--ink', '--ink-soft', '--brick', '--danger', '--ok']

const PAIRS: Pair[] = [
  ...TEXTS.flatMap((text) => SURFACES.map((background) => ({ text, background, ratio: 4.5 }))),
  { text: '--on-brick', background: '--brick-fill', ratio: 4.5 },
  { text: '--on-brick', background: '--brick-fill-hover', ratio: 4.5 },
  { text: '--on-danger', background: '--danger-fill', ratio: 4.5 },
  { text: '--on-danger', background: '--danger-fill-hover', ratio: 4.5 },
  { text: '--brick', background: '--brick-wash', ratio: 4.5 },
  { text: '--on-inverse', background: '--inverse', ratio: 4.5 },
  { text: '--on-inverse', background: '--inverse-hover', ratio: 4.5 },
  { text: '--inverse-accent', background: '--inverse', ratio: 4.5 },
  // Edges of controls and the focus ring are not text: 3:1 (WCAG 1.4.11).
  ...SURFACES.map((background) => ({ text: '--line-strong', background, ratio: 3 })),
]

const THEMES = ['light', 'dark'] as const

test.each(THEMES.flatMap((theme) => PAIRS.map((pair) => ({ theme, ...pair }))))(
  '$theme: $text on $background is at least $ratio',
  ({ theme, text, background, ratio }) => {
    expect(contrast(colour(text, theme), colour(background, theme))).toBeGreaterThanOrEqual(ratio)
  },
)

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
