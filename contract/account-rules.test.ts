import { expect, test } from 'vitest'
import { isEmail, isGeneratedName, usernameProblem } from './account-rules.ts'

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
  [`${'o'.repeat(243)}@example.org`, '255 characters'],
])('%j is not an e-mail: %s', (address) => {
  expect(isEmail(address)).toBe(false)
})

const FORBIDDEN = ' ,;:<>()"[]\\\0\t\r\n\u007f\u0085\u00a0\u2028\u200b\u202e\ud800'

test.each([...FORBIDDEN])('an address with %j in any place is not an e-mail', (it) => {
  const addresses = [`${it}o@a.org`, `o${it}o@a.org`, `o@a${it}a.org`, `o@a.org${it}`]
  expect(addresses.filter(isEmail)).toEqual([])
})

const NOT_IN_A_DOMAIN = "«»„“”’'?!/|#$%&*+={}^~`…"

test.each([...NOT_IN_A_DOMAIN])('an address with %j in its domain is not an e-mail', (it) => {
  const addresses = [`o@${it}a.org`, `o@a${it}a.org`, `o@a.org${it}`, `o@a.org${it}x`, `o@a.o${it}`]
  expect(addresses.filter(isEmail)).toEqual([])
})

test.each(['olga5', 'OLGA_1987', '12345', '_____', 'o'.repeat(32)])('%s is a username', (name) => {
  expect(usernameProblem(name)).toBeNull()
})

test.each([
  ['', 'empty'],
  ['olga', 'short'],
  ['o'.repeat(33), 'long'],
  ['оля', 'short'],
  ['ольга5', 'characters'],
  ['olga-5', 'characters'],
  ['olga5\n', 'characters'],
  ['mar\u212aus', 'characters'],
  ['аdministrator', 'characters'],
])('%j is not a username: %s', (name, problem) => {
  expect(usernameProblem(name)).toBe(problem)
})

test('a name is taken for a generated one by its form alone', () => {
  const names = ['user_a1b2c3d', 'user_a1b2c3', 'user_a1b2c3de', 'my_user_a1b2c3d', 'user_A1B2C3D']
  expect(names.filter(isGeneratedName)).toEqual(['user_a1b2c3d'])
})
