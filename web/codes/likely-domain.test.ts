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

const RIGHT = ['gmail.com', 'Mail.ru', 'ya.ru', 'mail.com', 'example.org', 'пример.рф']

test.each([...RIGHT, 'gmial.com@example.org'])('for %s asks nothing', (typed) => {
  expect(likelyDomain(`anna@${typed}`)).toBeUndefined()
})
