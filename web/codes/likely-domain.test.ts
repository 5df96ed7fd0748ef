import { expect, test } from 'vitest'
import { likelyDomain } from './likely-domain.ts'

test.each([
  ['gmial.com', 'gmail.com'],
  ['gnail.cm', 'gmail.com'],
  ['yadnex.ru', 'yandex.ru'],
  ['yandex.con', 'yandex.com'],
  ['yandex.rj', 'yandex.ru'],
  ['mail.tu', 'mail.ru'],
  ['gmail.ru', 'gmail.com'],
  ['gmail.org', 'gmail.com'],
  ['gmial.ru', 'gmail.com'],
  ['outlok.con', 'outlook.com'],
])('for %s asks about %s', (typed, host) => {
  expect(likelyDomain(`anna@${typed}`)).toBe(host)
})

const RIGHT = [
  ...['gmail.com', 'Mail.ru', 'ya.ru', 'mail.com', 'example.org', 'пример.рф', 'mail.example.org'],
  ...['mil.ru', 'rambler.ua', 'yahoo.fr', 'yahoo.co.uk', 'outlook.de', 'mail.de', 'hotmail.es'],
  ...['inbox.lv', 'yandex.by', 'mail.bg', 'mail.net', 'cloud.ru', 'student.spbu.ru'],
]
/** Each differs by a letter from two of the hosts. */
const EITHER = ['hmail.com', 'fmail.ru', 'dmail.ru', 'email.ru', 'ymail.com']

test.each([...RIGHT, ...EITHER, 'gmial.com@example.org'])('for %s asks nothing', (typed) => {
  expect(likelyDomain(`anna@${typed}`)).toBeUndefined()
})
