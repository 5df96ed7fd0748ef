import { expect, test } from 'vitest'
import { likelyDomain } from './likely-domain.ts'

test.each([
  ['gmial.com', 'gmail.com'],
  ['gmail.co', 'gmail.com'],
  ['gmail.con', 'gmail.com'],
  ['gnail.cm', 'gmail.com'],
  ['GMAL.COM', 'gmail.com'],
  ['yandx.ru', 'yandex.ru'],
  ['yadnex.ru', 'yandex.ru'],
  ['maill.ru', 'mail.ru'],
  ['mial.ru', 'mail.ru'],
  ['outlok.com', 'outlook.com'],
  ['iclod.com', 'icloud.com'],
  ['ramber.ru', 'rambler.ru'],
  ['intrenet.ru', 'internet.ru'],
  ['yandex.con', 'yandex.com'],
])('for %s asks about %s', (typed, host) => {
  expect(likelyDomain(`anna@${typed}`)).toBe(host)
})

test.each([
  'gmail.com',
  'Mail.ru',
  'ya.ru',
  'bk.ru',
  'ok.ru',
  'ra.ru',
  'mail.com',
  'mail.ua',
  'mai.ru',
  'yandex.by',
  'yandex.com',
  'inbox.lv',
  'man.ru',
  'example.org',
  'пример.рф',
])('for %s asks nothing', (host) => {
  expect(likelyDomain(`anna@${host}`)).toBeUndefined()
})

test('only the host counts', () => {
  expect(likelyDomain('gmial.com@example.org')).toBeUndefined()
})
