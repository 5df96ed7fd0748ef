import { expect, test } from 'vitest'
import type { SearchPage } from '../../../contract/search.ts'
import { appForFile } from '../../testing/test-app.ts'
import { DICTIONARY_FORMS } from './dictionary-forms.fixture.ts'

const app = await appForFile()

/** In quotes, a word is found by its forms alone. */
async function textsBy(form: string): Promise<string[]> {
  const q = encodeURIComponent(`"${form}"`)
  const { posts }: SearchPage = (await app.call('GET', `/posts/search?q=${q}&limit=50`)).body
  return posts.map(({ text }) => text)
}

test('96 of 100 forms of the dictionary find their word, and hardly one finds another word', async () => {
  expect(DICTIONARY_FORMS).toHaveLength(150)
  const { id } = await app.signUp()
  const words = DICTIONARY_FORMS.map(([word]) => word)
  await app.sql`INSERT INTO posts (owner_id, text) SELECT ${id}, unnest(${words}::text[])`
  const missed: string[] = []
  const wrong: string[] = []
  for (const [word, form] of DICTIONARY_FORMS) {
    const found = await textsBy(form)
    if (!found.includes(word)) missed.push(form)
    for (const text of found) if (text !== word) wrong.push(`${form}: ${text}`)
  }
  expect(missed.length, missed.join()).toBeLessThanOrEqual(0.04 * 150)
  expect(wrong.length, wrong.join()).toBeLessThanOrEqual(0.02 * 150)
})

test('everyday words, and those of which Snowball cuts a form too short or too long', async () => {
  const pairs = `Трамваи трамвая, Запись записи, Пирожок пирожками, Готовить готовлю,
    Ёлка елками, Работают работаешь, Новостью новостях, Тёплого теплую`
    .split(/,\s+/)
    .map((pair) => pair.split(' ') as [word: string, form: string])
  const user = await app.signUp()
  for (const text of [...pairs.map(([word]) => word), 'Котёл', 'Который']) {
    await app.publish(user, text)
  }
  for (const [word, form] of pairs) expect(await textsBy(form)).toContain(word)
  expect(await textsBy('кот')).toEqual([])
})
