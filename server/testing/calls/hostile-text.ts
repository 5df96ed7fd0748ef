import fc from 'fast-check'

const PIECES = [
  ...['<', '>', '&', '"', "'", ']]>', '<![CDATA[', '</script>', '<script>', '<!--', '-->', '<?'],
  ...['&lt;', '&#60;', '&#0;', '&nbsp;', '</entry>', '<br>', '\\', '\\u003c'],
  ...['\u0000', '\u0001', '\u0008', '\t', '\n', '\r', '\r\n', '\u000b', '\u001f', '\u007f'],
  ...['\u0085', '\u2028', '\u2029', '\ufeff', '\ufffe', '\uffff', '\u202e', '\ud83d', '\ude00'],
  ...['😀', 'ы', ' '],
]

/** Many pieces begin or end something in XML, HTML or JavaScript, or are forbidden in XML. */
export const hostileText = fc.string({
  unit: fc.oneof(
    fc.constantFrom(...PIECES),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
  ),
  maxLength: 40,
})

/** A parser of XML may return U+FFFD for what is no Char of XML 1.0 (production 2). */
export function withoutNonXml(text: string): string {
  return text.replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '\ufffd')
}
