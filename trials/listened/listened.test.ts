import { mkdtempDisposable, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { test } from '../../e2e/testing/journey.ts'
import { listenTo } from './screen-reader.ts'

/** What a person has read and found right. `LISTEN=1` prints all that is said. */
const EXPECTED = join(import.meta.dirname, 'expected.txt')

test('a person who sees nothing hears who wrote what, and signs in', async ({ journey }) => {
  const [olga, petr] = [await journey.signUp(), await journey.signUp()]
  const rename = 'UPDATE users SET username = $1 WHERE id = $2'
  await journey.rows(rename, ['Olga_V', olga.id])
  await journey.rows(rename, ['Petr_S', petr.id])
  const post = await journey.publish(olga, 'Утром видела лису. Она шла по рельсам.')
  await journey.reply(petr, post.id, 'А я видел зайца')
  await journey.publish(petr, 'Хлеб вырос в цене: https://example.org/хлеб')
  await using folder = await mkdtempDisposable(join(tmpdir(), 'vslukh-listened-'))
  const orca = await listenTo(journey.url, folder.path)
  onTestFinished(() => orca.close())
  const heard: string[] = []
  const hear = async () => void heard.push(...(await orca.hear()))
  const tabTo = async (name: string) => {
    for (let n = 0; n < 20; n++) {
      await orca.press('Tab')
      const lines = await orca.hear()
      heard.push(...lines)
      if (lines.includes(`${name} нажимаемая кнопка.`)) return
    }
    throw new Error(`Never heard: ${name}`)
  }

  await hear()
  await tabTo('Войти')
  await orca.press('Return')
  await hear()
  await orca.type(olga.email)
  await hear()
  await orca.press('Return')
  await hear()

  const lines = heard.map((line) =>
    line
      // A dot is read with a pause.
      .replace(/\S+@ ?example\. ?org/g, 'olga@example.org')
      .replace(/ ?(?:Отправляем письмо…|Письмо отправлено)/g, '')
      .replace(/сейчас|\d+ мин\S+ назад/g, 'недавно'),
  )
  if (process.env.LISTEN) console.log(lines.join('\n'))
  // What else is said depends on how fast the page loads.
  const expected = (await readFile(EXPECTED, 'utf8')).trim().split('\n')
  expect(expected.slice(countInOrder(lines, expected))).toEqual([])
  expect(lines).not.toContain('строка состояния')
})

/** Returns how many of the first expected lines were said, in their order. */
function countInOrder(said: string[], expected: string[]): number {
  let found = 0
  for (const line of said) if (line === expected[found]) found++
  return found
}
