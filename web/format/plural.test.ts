import { expect, test } from 'vitest'
import { plural } from './plural.ts'

const answers = { one: 'ответ', few: 'ответа', many: 'ответов' }

test.each([
  [0, 'ответов'],
  [1, 'ответ'],
  [2, 'ответа'],
  [4, 'ответа'],
  [5, 'ответов'],
  [11, 'ответов'],
  [12, 'ответов'],
  [21, 'ответ'],
  [22, 'ответа'],
  [111, 'ответов'],
  [1001, 'ответ'],
  [1.5, 'ответа'],
])('%d %s', (n, form) => {
  expect(plural(n, answers)).toBe(form)
})
