import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hostileText, unescapeHtml, withoutNonXml } from '../../testing/hostile-text.ts'
import { textsInXml } from '../../testing/xml.ts'
import { escapeHtml, escapeXml } from './escape.ts'

test('a parser of XML returns every text that was escaped, in an element and in an attribute', () => {
  fc.assert(
    fc.property(hostileText, (text) => {
      // The letter keeps a byte order mark from standing first, where the parser's binding removes it.
      const xml = `<a b="x${escapeXml(text)}">x${escapeXml(text)}</a>`
      expect(textsInXml(xml, '/a')).toEqual([`x${withoutNonXml(text)}`])
      expect(textsInXml(xml, '/a/@b')).toEqual([`x${withoutNonXml(text)}`])
    }),
  )
})

test('text that was escaped for HTML has nothing but text in it, and all of it', () => {
  fc.assert(
    fc.property(hostileText, (text) => {
      const html = escapeHtml(text)
      expect(html).not.toMatch(/[<>"']|&(?!#\d+;)/)
      expect(unescapeHtml(html)).toBe(text)
    }),
  )
})
