import { mkdtempDisposable, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { type Journey, test } from '../../e2e/testing/journey.ts'
import { passkeyOf } from '../../e2e/testing/passkeys.ts'
import { listenTo } from './screen-reader.ts'

/** What a person has read and found right. `LISTEN=1` prints all that is said. */
const expectedOf = async (name: string) =>
  (await readFile(join(import.meta.dirname, `${name}.txt`), 'utf8')).trim().split('\n')

const RENAME = 'UPDATE users SET username = $1 WHERE id = $2'

/** Opens the wall for somebody who sees nothing. Returns their hands, and all that they hear. */
async function openForEars({ url }: Journey) {
  const folder = await mkdtempDisposable(join(tmpdir(), 'vslukh-listened-'))
  onTestFinished(() => folder.remove())
  const orca = await listenTo(url, folder.path)
  onTestFinished(() => orca.close())
  const heard: string[] = []
  const hear = async () => {
    const lines = await orca.hear()
    if (process.env.LISTEN) console.log(lines.join('\n'))
    heard.push(...lines)
    return lines
  }
  return {
    heard,
    hear,
    async press(key: string) {
      await orca.press(key)
      await hear()
    },
    async type(text: string) {
      await orca.type(text)
      await hear()
    },
    async tabTo(name: string) {
      for (let n = 0; n < 40; n++) {
        await orca.press('Tab')
        const lines = await hear()
        if (lines.some((line) => line.startsWith(name))) return
      }
      throw new Error(`Never heard: ${name}`)
    },
  }
}

test('a person who sees nothing hears who wrote what, and signs in', async ({ journey }) => {
  const [olga, petr] = [await journey.signUp(), await journey.signUp()]
  await journey.rows(RENAME, ['Olga_V', olga.id])
  await journey.rows(RENAME, ['Petr_S', petr.id])
  const post = await journey.publish(olga, 'Утром видела лису. Она шла по рельсам.')
  await journey.reply(petr, post.id, 'А я видел зайца')
  await journey.publish(petr, 'Хлеб вырос в цене: https://example.org/хлеб')
  const { heard, hear, press, type, tabTo } = await openForEars(journey)
  await hear()
  await tabTo('Войти нажимаемая кнопка.')
  await press('Return')
  await type(olga.email)
  await press('Return')
  expectHeard(heard, await expectedOf('expected'))
})

test('a person who sees nothing hears what a passkey is for, and removes it', async ({
  journey,
}) => {
  const olga = await journey.signUp()
  await journey.rows(RENAME, ['Olga_V', olga.id])
  await passkeyOf(journey, olga)
  const { heard, hear, press, type, tabTo } = await openForEars(journey)
  await hear()
  await tabTo('Войти нажимаемая кнопка.')
  await press('Return')
  await type(olga.email)
  await press('Return')
  await type(await journey.nextCode(olga.email))
  await hear()
  heard.length = 0

  await press('ctrl+l')
  await type(`${journey.url}/settings`)
  await press('Return')
  await tabTo('Ключи доступа')
  await press('Return')
  await tabTo('Добавить ключ')
  await tabTo('Firefox, Linux')
  await press('Return')
  await tabTo('Название ключа')
  await tabTo('Удалить ключ')
  await press('Return')

  expectHeard(heard, await expectedOf('signed-in'))
})

/** Expects these lines in their order. What else is said depends on how fast the page loads. */
function expectHeard(heard: string[], expected: string[]): void {
  const lines = heard.map((line) =>
    line
      // A dot is read with a pause.
      .replace(/\S+@ ?example\. ?org/g, 'olga@example.org')
      .replace(/ ?(?:Отправляем письмо…|Письмо отправлено)/g, '')
      .replace(/сейчас|\d+ мин\S+ назад/g, 'недавно')
      .replace(/добавлен .* в \d+:\d+/, 'добавлен недавно'),
  )
  expect(expected.slice(countInOrder(lines, expected))).toEqual([])
  expect(lines).not.toContain('строка состояния')
}

/** Returns how many of the first expected lines were said, in their order. */
function countInOrder(said: string[], expected: string[]): number {
  let found = 0
  for (const line of said) if (line === expected[found]) found++
  return found
}
