import { expect, test } from 'vitest'
import { isEmail } from './account-rules.ts'

test.each([
  'olga@example.org',
  'olga+wall@example.org',
  'ольга@пример.рф',
  "o'hara_!#$%&*=?^`{|}~@mail.example.org",
  'a@b@example.org',
  `${'o'.repeat(242)}@example.org`,
])('%s is an e-mail', (address) => {
  expect(isEmail(address)).toBe(true)
})

test.each([
  ['', 'nothing'],
  ['olga', 'no at-sign'],
  ['@example.org', 'nothing before the at-sign'],
  ['olga@', 'nothing after it'],
  ['olga@example', 'no dot'],
  ['olga@example.o', 'one character after the dot'],
  ['olga ivanova@example.org', 'a space'],
  [' olga@example.org', 'a space in front'],
  ['olga@example.org\n', 'a line feed at the end'],
  ['olga@exam\u00a0ple.org', 'a no-break space'],
])('%j is not an e-mail: %s', (address) => {
  expect(isEmail(address)).toBe(false)
})

const FORBIDDEN = ',;:<>()"[]\\\0\t\r\n\u007f\u0085\u2028\u200b\u202e\ud800'

test.each([...FORBIDDEN])('an address with %j in any place is not an e-mail', (character) => {
  for (const address of [
    `${character}olga@example.org`,
    `ol${character}ga@example.org`,
    `olga@exam${character}ple.org`,
    `olga@example.org${character}`,
  ]) {
    expect(isEmail(address)).toBe(false)
  }
})

test('an e-mail has at most 254 characters', () => {
  const domain = '@example.org'
  expect(isEmail('o'.repeat(254 - domain.length) + domain)).toBe(true)
  expect(isEmail('o'.repeat(255 - domain.length) + domain)).toBe(false)
})
