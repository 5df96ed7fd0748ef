import { mkdtempDisposable, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { cookiesOf, type Journey, test } from '../../e2e/testing/journey.ts'
import { passkeyOf } from '../../e2e/testing/passkeys.ts'
import type { TestUser } from '../../server/testing/http/client.ts'
import { listen } from './screen-reader.ts'

/** What a person has read and found right. `LISTEN=1` prints all that is said. */
const expectedOf = async (name: string) =>
  (await readFile(join(import.meta.dirname, `${name}.txt`), 'utf8')).trim().split('\n')

/** Less than after a page: what has the focus is named at once. */
const STEP_MS = 1000

/** Opens a browser for somebody who sees nothing. Returns their hands, and all that they do and hear. */
async function openForEars({ url }: Journey, user?: TestUser) {
  const folder = await mkdtempDisposable(join(tmpdir(), 'vslukh-listened-'))
  onTestFinished(() => folder.remove())
  const orca = await listen(folder.path, user ? cookiesOf(user, url) : [])
  onTestFinished(() => orca.close())
  const heard: string[] = []
  const keep = (lines: string[]) => {
    if (process.env.LISTEN) console.log(lines.join('\n'))
    heard.push(...lines)
    return lines
  }
  const hear = async (silenceMs?: number) => keep(await orca.hear(silenceMs))
  await hear()
  return {
    heard,
    hear,
    async open(path: string) {
      keep([`> ${path}`])
      await orca.press('ctrl+l')
      await orca.type(url + path)
      // The browser may have completed the address.
      await orca.press('Delete')
      await orca.press('Return')
      let lines: string[]
      do lines = await hear()
      while (!lines.some((line) => line.startsWith('Страница имеет')))
    },
    async press(key: string) {
      keep([`> ${key}`])
      await orca.press(key)
      await hear()
    },
    async type(text: string) {
      keep([`> «${text}»`])
      await orca.type(text)
      await hear()
    },
    async reach(key: string, name: string) {
      keep([`> ${key}… ${name}`])
      for (let n = 0; n < 40; n++) {
        await orca.press(key)
        const lines = await hear(STEP_MS)
        if (lines.some((line) => line.startsWith(name))) return
      }
      throw new Error(`Never heard: ${name}`)
    },
  }
}

/** Returns a person with a name that is read. */
async function personNamed(journey: Journey, name: string): Promise<TestUser> {
  const user = await journey.signIn(`${name.toLowerCase()}@example.org`)
  await journey.rows('UPDATE users SET username = $1 WHERE id = $2', [name, user.id])
  return { ...user, username: name }
}

test('a person who sees nothing hears who wrote what, and signs in', async ({ journey }) => {
  const olga = await personNamed(journey, 'Olga_V')
  const petr = await personNamed(journey, 'Petr_S')
  const post = await journey.publish(olga, 'Утром видела лису. Она шла по рельсам.')
  await journey.reply(petr, post.id, 'А я видел зайца')
  await journey.publish(petr, 'Хлеб вырос в цене: https://example.org/хлеб')
  const { heard, open, press, type, reach } = await openForEars(journey)
  await open('/')
  await reach('Tab', 'Войти нажимаемая кнопка.')
  await press('Return')
  await type(olga.email)
  await press('Return')
  expectHeard(heard, await expectedOf('wall'))
})

test('a person who sees nothing hears what a passkey is for, and removes it', async ({
  journey,
}) => {
  const olga = await personNamed(journey, 'Olga_V')
  await passkeyOf(journey, olga)
  const { heard, open, press, reach } = await openForEars(journey, olga)
  await open('/settings')
  await reach('Tab', 'Ключи доступа')
  await press('Return')
  await reach('Tab', 'Добавить ключ')
  await reach('Tab', 'Firefox, Linux')
  await press('Return')
  await reach('Tab', 'Название ключа')
  await reach('Tab', 'Удалить ключ')
  await press('Return')

  expectHeard(heard, await expectedOf('passkeys'))
})

test('a thread is read with who wrote what, and answered', async ({ journey }) => {
  const olga = await personNamed(journey, 'Olga_V')
  const petr = await personNamed(journey, 'Petr_S')
  const vera = await personNamed(journey, 'Vera_K')
  const text = 'Утром видела лису. Подробности: https://example.org/лиса'
  const post = await journey.publish(olga, text)
  await journey.call('POST', `/posts/${post.id}/likes`, { token: vera.token })
  await journey.reply(petr, post.id, 'А я видел зайца')
  const { heard, open, press, type, reach } = await openForEars(journey, petr)
  await open(`/posts/${post.id}`)
  await reach('b', 'Ответить: Olga_V')
  await press('Return')
  await type('15:30?')
  await press('ctrl+Return')
  expectHeard(heard, await expectedOf('thread'))
})

test('a post is published that names somebody', async ({ journey }) => {
  const olga = await personNamed(journey, 'Olga_V')
  const petr = await personNamed(journey, 'Petr_S')
  const peter = await personNamed(journey, 'Peter_K')
  for (const author of [petr, peter]) await journey.publish(author, 'Хлеб вырос в цене')
  const { heard, open, press, type, reach } = await openForEars(journey, olga)
  await open('/')
  await reach('b', 'Новая запись')
  await press('Return')
  await type('15:30 @pe')
  await press('Down')
  await press('Return')
  await press('ctrl+Return')
  expectHeard(heard, await expectedOf('writing'))
})

test('a person hears that they were named, and by whom', async ({ journey }) => {
  const olga = await personNamed(journey, 'Olga_V')
  const petr = await personNamed(journey, 'Petr_S')
  const post = await journey.publish(petr, 'Хлеб вырос в цене')
  await journey.reply(olga, post.id, 'И молоко')
  await journey.publish(olga, 'Спросите @Petr_S об этом')
  const { heard, open, press, reach } = await openForEars(journey, petr)
  await open('/')
  await reach('k', 'Ответы мне')
  await press('Return')
  await press('Tab')
  await reach('Tab', 'Новый ответ')
  await reach('shift+Tab', 'Ответы мне')
  expectHeard(heard, await expectedOf('mention'))
})

test('a clarification is written, read under its post, and taken away', async ({ journey }) => {
  const olga = await personNamed(journey, 'Olga_V')
  const post = await journey.publish(olga, 'Встреча в семь')
  await journey.rows(`UPDATE posts SET created_at = now() - interval '1 day'`)
  const { heard, open, press, type, reach } = await openForEars(journey, olga)
  await open(`/posts/${post.id}`)
  await reach('b', 'Ещё: Olga_V')
  await press('Return')
  await press('Return')
  await type('15:30')
  await press('ctrl+Return')
  await open(`/posts/${post.id}`)
  await reach('b', 'Ещё: Olga_V')
  await press('Return')
  await press('Down')
  await press('Return')
  await press('Return')
  expectHeard(heard, await expectedOf('clarification'))
})

test('the next posts come by a button, and the first of them is read', async ({ journey }) => {
  const olga = await personNamed(journey, 'Olga_V')
  await journey.fillWall(olga, 15)
  const { heard, open, press, reach } = await openForEars(journey, olga)
  await open('/settings')
  await reach('x', 'Страницы кнопкой')
  await press('space')
  await open('/')
  await reach('shift+b', 'Ещё 10')
  await press('Return')
  await press('KP_Enter')
  expectHeard(heard, await expectedOf('pages'))
})

/** What is said of a region in which nothing is announced. A region that loads has a name. */
const EMPTY = ['строка состояния', 'уведомление']

/** Expects these lines in their order. What else is said depends on how fast the page loads. */
function expectHeard(heard: string[], expected: string[]): void {
  const lines = heard.map((line) =>
    line
      .replace(/^(> \/posts\/)\d+/, '$11')
      // A dot is read with a pause.
      .replace(/\S+@ ?example\. ?org/g, 'olga@example.org')
      .replace(/ ?(?:Отправляем письмо…|Письмо отправлено)/g, '')
      .replace(/сейчас|\d+ мин\S+ назад/g, 'недавно')
      // The hour is that of the server until the page's scripts run.
      .replace(/ · .* \d+:\d+(?: UTC)?$/, '')
      .replace(/добавлен .* в \d+:\d+/, 'добавлен недавно'),
  )
  expect(expected.slice(countInOrder(lines, expected))).toEqual([])
  const empty = lines.filter(
    (line, at) => EMPTY.includes(line) && !lines[at - 1]?.startsWith('Загружаем'),
  )
  expect(empty).toEqual([])
}

/** Returns how many of the first expected lines were said, in their order. */
function countInOrder(said: string[], expected: string[]): number {
  let found = 0
  for (const line of said) if (line === expected[found]) found++
  return found
}
