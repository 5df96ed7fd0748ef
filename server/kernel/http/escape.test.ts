import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hostileText } from '../../testing/calls/hostile-text.ts'
import { escapeHtml } from './escape.ts'

test('text that was escaped for HTML has nothing but text in it, and all of it', () => {
  fc.assert(
    fc.property(hostileText, (text) => {
      const html = escapeHtml(text)
      expect(html).not.toMatch(/[<>"']|&(?!#\d+;)/)
      const read = html.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(code))
      expect(read).toBe(text)
    }),
  )
})
