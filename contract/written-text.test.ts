import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parsePostText, textLength } from './text.ts'

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

test('markup is text like any other', () => {
  const markup = '<script>alert(1)</script> javascript:alert(1) &amp; %00'
  expect(parsePostText(markup)).toBe(markup)
})
