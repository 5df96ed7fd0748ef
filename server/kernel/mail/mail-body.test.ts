import { expect, test } from 'vitest'
import { type Line, toOneLine, writeMail } from './mail-body.ts'

const ORIGIN = 'https://wall.example'
const write = (lines: Line[], origin = ORIGIN) =>
  writeMail({ to: 'olga@example.org', subject: 'Ответ' }, lines, { appName: 'Вслух', origin })
const bodyOf = (quote: string) => write(['Петя:', { quote }, '', 'Ответить.'])

test('a text of people is quoted line by line, with one blank line at most, in both parts', () => {
  const { text, html } = bodyOf(
    'Раз\n\n\n\nДва\u2028Три\r\n \u200b\n\u3164\u2800\n\t\n<b>Четыре</b> & "пять"\n',
  )
  expect(text.split('\n')).toEqual([
    'Петя:',
    '> Раз',
    '>',
    '> Два',
    '> Три',
    '>',
    '> <b>Четыре</b> & "пять"',
    '',
    'Ответить.',
  ])
  expect(html).toContain(
    '<br>Три<br><br>&#60;b&#62;Четыре&#60;/b&#62; &#38; &#34;пять&#34;</blockquote>',
  )
  expect(html.indexOf('Ответить')).toBeGreaterThan(html.indexOf('</blockquote>'))
})

test.each([
  ['Отменить: https://vsluh-login.example/undo#1.', 'Отменить: vsluh-login.example'],
  ['https://wall.example@evil.example/a', 'evil.example'],
  ['HTTPS:\\\\evil.example\\a', 'evil.example'],
  ['evil.example/вход?a=1', 'evil.example'],
  ['www.evil.example:8080/a, «http://b.example/c»', 'www.evil.example «b.example»'],
  ['стена.xn--p1ai/settings/devices', 'стена.xn--p1ai'],
  ['https://стена.рф/settings', 'стена.рф'],
  ['https://xn--80ajyof.xn--p1ai/settings', 'xn--80ajyof.xn--p1ai'],
  ['my_wall.evil.example./a, см..evil.example/a', 'my_wall.evil.example см..evil.example'],
  ['@evil.example/a или mailto:a@b.example?body=c', '@evil.example или mailto:a@b.example'],
  ['tg://resolve?domain=evil', 'resolve'],
  ['Читать и/или писать на a@b.example', 'Читать и/или писать на a@b.example'],
  ['https://wall.example/posts/1', 'wall.example'],
  ['за \u202eкод\u202c', 'за код'],
])('a link in a quoted text is reduced to its host: %s', (quote, shown) => {
  expect(bodyOf(quote).text).toContain(`> ${shown}\n`)
  expect(bodyOf(quote).html).toContain(`>${shown}</blockquote>`)
  expect(bodyOf(quote).html).not.toContain('<a ')
  expect(toOneLine(`\n${quote}\n\n`)).toBe(shown)
})

test('the wall’s addresses are readable, and only the target of a link is in the form of the DNS', () => {
  const { origin } = new URL('https://стена.рф:8443')
  const { text, html } = write([`Устройства: ${origin}/settings/devices#a`, origin], origin)
  expect(text).toBe('Устройства: https://стена.рф:8443/settings/devices#a\nhttps://стена.рф:8443')
  const shown = html.replaceAll(/href="[^"]*"/g, '')
  expect(shown).not.toContain('xn--')
  expect(html).toContain(
    `<a href="${origin}/settings/devices#a">https://стена.рф:8443/settings/devices#a</a>`,
  )
})

test('only addresses of the wall are links, a code stands large, and there are no pictures', () => {
  const lines = [
    { code: '012345', what: 'ваш код для входа' },
    '',
    `Читать: ${ORIGIN}/replies?a=1&b=2`,
    `Не наши: ${ORIGIN}.evil.example/a ${ORIGIN}:81/a https://other.example/`,
  ]
  const { text, html } = write(lines)
  expect(text).toBe(`012345 — ваш код для входа.\n\n${lines[2]}\n${lines[3]}`)
  expect(html.match(/<a [^>]*>/g)).toEqual([`<a href="${ORIGIN}/replies?a=1&#38;b=2">`])
  expect(html).toMatch(/font-size:32px[^>]*>012345</)
  expect(html).not.toMatch(/<img|src=|url\(/)
})
