import { expect, test } from 'vitest'
import { likelyDomain } from './likely-domain.ts'

test.each([
  ['gmial.com', 'gmail.com'],
  ['gnail.cm', 'gmail.com'],
  ['yadnex.ru', 'yandex.ru'],
  ['yandex.con', 'yandex.com'],
])('for %s asks about %s', (typed, host) => {
  expect(likelyDomain(`anna@${typed}`)).toBe(host)
})

test.each(['gmail.com', 'Mail.ru', 'ya.ru', 'mail.com', 'example.org', 'пример.рф'])(
  'for %s asks nothing',
  (host) => {
    expect(likelyDomain(`anna@${host}`)).toBeUndefined()
  },
)

test('only the host counts', () => {
  expect(likelyDomain('gmial.com@example.org')).toBeUndefined()
})
