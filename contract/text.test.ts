import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  normalizeLine,
  normalizeText,
  parsePostText,
  remainingLength,
  textLength,
  tidyTypedText,
} from './text.ts'

const MARK = '\u0301'
const HOSTILE = [
  ...'\u0301\u0306\u0327иz\u1100\u1161 \n\ufeff\u200d\u2060\u00ad\ufe0f\u0f73\u202e',
  ...['\ud83d', '\ude00'],
]
/** Any strings, with many characters that normalisation changes, and with lone surrogates. */
const anyText = fc.string({
  unit: fc.oneof(
    fc.constantFrom(...HOSTILE),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
  ),
  maxLength: 60,
})

test('a text is trimmed and normalised to NFC, and line feeds and spaces within it stay', () => {
  expect(parsePostText('  Привет, стена!\n\n')).toBe('Привет, стена!')
  expect(parsePostText('и\u0306')).toBe('й')
  expect(parsePostText('\u00a0\u3000\ufeffтекст\u00a0')).toBe('текст')
  expect(parsePostText('раз\n\n  два')).toBe('раз\n\n  два')
})

test.each([
  ['500 letters', 'я'.repeat(500), 0],
  ['500 emoji, two code units each', '😀'.repeat(500), 0],
  ['500 letters amid spaces', ` ${'я'.repeat(500)} `, 0],
  ['500 pairs that NFC makes one', 'и\u0306'.repeat(500), 0],
  ['501 letters', 'я'.repeat(501), -1],
  ['501 emoji', '😀'.repeat(501), -1],
  ['500 flags, two code points each', '🇷🇺'.repeat(500), -500],
])('%s are measured against the limit of 500 code points', (_what, raw, remaining) => {
  const text = parsePostText(raw)
  expect(text && textLength(text)).toBe(remaining < 0 ? null : 500)
  expect(remainingLength(raw)).toBe(remaining)
})

test.each([
  // Nothing in these is visible.
  ['nothing', ''],
  ['spaces and line feeds', ' \n \u00a0\u2003'],
  ['zero-width characters', '\u200b\u200c\u200d\u2060\ufeff'],
  ['variation selectors', '\ufe0f\u{e0100}'],
  ['Hangul fillers', '\u115f\u1160\u3164\uffa0'],
  ['a braille blank', '\u2800'],
  ['bidirectional overrides alone', '\u202e\u2066'],
  ['combining marks without a letter', '\u0301\u0489\u20dd'],
  ['a musical null notehead', '\u{1d159}'],
  ['hieroglyphic blanks', '\u{13441}\u{13442}'],
  ['a Khitan filler', '\u{16fe4}'],
  ['a place of an object', '\ufffc'],
  ['all of these at once', '\u{1d159} \u0301\u{13441}\u200d\ufffc\u{16fe4}\u2800'],
  // These may be in no text.
  ['NUL', 'а\0б'],
  ['a tab at the beginning', '\tтекст'],
  ['a carriage return at the end', 'текст\r'],
  ['a C1 control', 'а\u0085б'],
  ['a high surrogate alone', 'а\ud83dб'],
  ['a low surrogate alone', 'а\ude00б'],
])('%s is refused', (_what, raw) => {
  expect(parsePostText(raw)).toBeNull()
})

test('bidirectional overrides and isolates are removed, direction marks stay', () => {
  expect(parsePostText('а\u202a\u202b\u202c\u202d\u202eб\u2066\u2067\u2068\u2069в')).toBe('абв')
  expect(parsePostText('\u202e  тихо  \u202c')).toBe('тихо')
  expect(parsePostText('а\u200eб\u200fв')).toBe('а\u200eб\u200fв')
})

test('spaces and line ends of any kind in a text of one line become one space', () => {
  expect(normalizeLine(' \u202eраз\u202c \u00a0\n\u2028два ')).toBe('раз два')
})

test('runs of combining marks are cut to 8', () => {
  expect(parsePostText(`z${MARK.repeat(100)}a`)).toBe(`ź${MARK.repeat(8)}a`)
  expect(parsePostText(`q${MARK.repeat(8)}`)).toBe(`q${MARK.repeat(8)}`)
  expect(parsePostText(`q${MARK.repeat(9)}`)).toBe(`q${MARK.repeat(8)}`)
})

test.each([
  ['a zero-width joiner', '\u200d'],
  ['a Hangul filler', '\u3164'],
  ['a mark of direction', '\u200e'],
])('marks after %s belong to the same letter: 8 stay', (_what, filler) => {
  const marks = (text: string | null) => text?.match(/\p{M}/gu)?.length
  for (const run of [1, 3, 8]) {
    const text = parsePostText(`q${(MARK.repeat(run) + filler).repeat(30)}!`)
    expect(marks(text)).toBe(8)
    expect(text?.endsWith('!')).toBe(true)
  }
  const few = `q${(MARK + filler).repeat(8)}!`
  expect(parsePostText(few)).toBe(few)
})

test('normalising twice changes nothing; every accepted text has 1 to 500 code points, no forbidden character, and the length that the browser counts', () => {
  fc.assert(
    fc.property(anyText, (raw) => {
      const once = normalizeText(raw)
      expect(normalizeText(once)).toBe(once)
      const text = parsePostText(raw)
      if (text === null) return
      expect(textLength(text)).toBeGreaterThanOrEqual(1)
      expect(textLength(text)).toBeLessThanOrEqual(500)
      expect(remainingLength(raw)).toBe(500 - textLength(text))
      expect(text).not.toMatch(/(?!\n)\p{Cc}|\p{Cs}|[\u202a-\u202e\u2066-\u2069]/u)
      expect(text).not.toMatch(/(?:\p{M}[\p{Cf}\p{Default_Ignorable_Code_Point}]*){9}/u)
      expect(text).toMatch(/[^\p{M}\p{Z}\p{Cf}]/u)
    }),
    { numRuns: 2000 },
  )
})

test.each([
  ['line ends and tabs', 'раз\r\nдва\rтри\tчетыре', 'раз\nдва\nтри четыре'],
  ['line breaks of office programs, page breaks, NEL', 'раз\vдва\fтри\x85!', 'раз\nдва\nтри\n!'],
  ['line and paragraph separators', 'раз\u2028два\u2029три', 'раз\nдва\nтри'],
  ['hyphens at line ends of a PDF', 'пере\u0002нос', 'перенос'],
  ['colours of a terminal, NUL, DEL', '\u001b[1mтекст\0\u007f', '[1mтекст'],
  ['halves of emoji', '\ude00текст 😀\ud83d', 'текст 😀'],
])('typed or pasted, %s may be published', (_what, raw, tidy) => {
  expect(tidyTypedText(raw)).toBe(tidy)
  expect(parsePostText(tidy)).toBe(tidy)
})

/** Texts as people write them, which are published unchanged. */
const WRITTEN = [
  ['a family', '👨‍👩‍👧‍👦'],
  ['a kiss', '👩🏽‍❤️‍💋‍👨🏿'],
  ['a heart on fire', '❤️‍🔥'],
  ['a row of hearts', '❤️'.repeat(60)],
  ['keycaps', '0️⃣1️⃣2️⃣3️⃣4️⃣5️⃣6️⃣7️⃣8️⃣9️⃣#️⃣*️⃣'],
  ['flags', '🇷🇺🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}🏳️‍🌈🏴‍☠️'],
  ['Russian with stresses', 'за\u0301мок и замо\u0301к'],
  ['Church Slavonic', 'гдⷭ҇ь бг҃ъ ѿ ѻ҆те́цъ'.normalize('NFC')],
  ['Vietnamese', 'Tiếng Việt đẹp lắm, ngữ nghĩa'],
  ['Hindi with conjuncts', 'क्षत्रिय श्री क्‍ष र्‍य ज्ञान'],
  ['Thai', 'ที่นี่ น้ำ กี่ ผู้ใหญ่'],
  ['Tibetan', 'བསྒྲུབས་ ཧཱུྃ'],
  ['Arabic with vowels', 'بِسْمِ ٱللَّهِ ٱلرَّحْمَٰنِ'.normalize('NFC')],
  ['Persian with a non-joiner', 'می‌خواهم'],
  ['Hebrew with niqqud and cantillation', 'בְּרֵאשִׁ֖ית בָּרָ֣א אֱלֹהִ֑ים'.normalize('NFC')],
  ['right-to-left words beside others', 'שלום мир'],
  ['a zero width space among letters', 'а\u200bб'],
  ['Hangul syllables and jamo', '한국어 ᄒᆞᆫ글'],
  ['a dotted circle that bears a mark', '◌\u0301'],
] as const

test.each(WRITTEN)('%s is published as written', (_what, text) => {
  expect(parsePostText(text)).toBe(text)
})

test('combinations of what people write are published as written', () => {
  const words = fc.constantFrom(...WRITTEN.map(([, text]) => text), 'слово', '😀', '…')
  fc.assert(
    fc.property(fc.array(words, { minLength: 1, maxLength: 8 }), (parts) => {
      const text = parts.join(' ')
      if (textLength(text) <= 500) expect(parsePostText(text)).toBe(text)
    }),
  )
})
