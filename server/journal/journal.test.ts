import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { appForTest } from '../testing/test-app.ts'
import { appendToJournal, readJournal } from './journal.ts'

test('an act can be found by its user, its post and its time, and can be neither changed nor removed', async () => {
  const { db } = await appForTest()
  const act = { actor: 'olga', action: 'post.remove', userId: '7', postId: '12', reason: 'Спам' }
  const id = await appendToJournal(db, { ...act, details: { text: 'Купите' } })
  await appendToJournal(db, { actor: 'petr', action: 'recount' })
  const expected = [{ id, actor: 'olga', reason: 'Спам', details: { text: 'Купите' } }]
  expect(await readJournal(db, { userId: '7' })).toMatchObject(expected)
  expect(await readJournal(db, { postId: '12' })).toMatchObject(expected)
  expect(await readJournal(db, { sinceSeconds: 60 })).toMatchObject([{ actor: 'petr' }, { id }])
  expect(await readJournal(db, { sinceSeconds: 0 })).toEqual([])
  await expect(sql`UPDATE journal SET actor = 'ivan'`.execute(db)).rejects.toThrow(/append-only/)
  await expect(sql`DELETE FROM journal`.execute(db)).rejects.toThrow(/append-only/)
})
