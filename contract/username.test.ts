import { expect, test } from 'vitest'
import { isGeneratedName, usernameProblem } from './account-rules.ts'

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
  expect(isGeneratedName('user_a1b2c3d')).toBe(true)
  for (const name of ['user_a1b2c3', 'user_a1b2c3de', 'my_user_a1b2c3d', 'user_A1B2C3D', 'olga']) {
    expect(isGeneratedName(name)).toBe(false)
  }
})
