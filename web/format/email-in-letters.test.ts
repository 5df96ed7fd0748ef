import { domainToASCII, domainToUnicode } from 'node:url'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { emailInLetters } from './email-in-letters.ts'

test.each([
  ['anna@xn--e1afmkfd.xn--p1ai', 'anna@пример.рф'],
  ['xn--p1ai@XN--E1AFMKFD.xn--p1ai', 'xn--p1ai@пример.рф'],
  // Addresses without another form in letters
  ['', ''],
  ...'anna@example.org a@xn--.org a@xn--a.org a@xn--99999999999.org a@xn--exmple-.org anna@'
    .split(' ')
    .map((address) => [address, address]),
])('%s is shown as %s', (address, shown) => {
  expect(emailInLetters(address)).toBe(shown)
})

test('any name comes back from its form in the DNS', () => {
  const letter = fc.constantFrom(...'абвёяжщ-09azüß中日한ñ𐍈')
  fc.assert(
    fc.property(fc.string({ unit: letter, minLength: 1, maxLength: 15 }), (name) => {
      const ascii = domainToASCII(`${name}.рф`)
      fc.pre(ascii !== '')
      expect(emailInLetters(`a@${ascii}`)).toBe(`a@${domainToUnicode(ascii)}`)
    }),
  )
})
