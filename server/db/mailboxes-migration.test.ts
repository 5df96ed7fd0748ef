import type { Kysely } from 'kysely'
import { expect, inject, onTestFinished, test } from 'vitest'
import { freshDatabase } from '../testing/databases.ts'
import { openDatabase } from './database.ts'
import { renewEmailKeys } from './migrations/003-mailboxes.ts'

test('addresses are compared anew: no account loses a key that serves, and of two that get one the older has it', async () => {
  const database = await freshDatabase(inject('databaseUrl'))
  const { db, close } = openDatabase(database.url, () => {})
  onTestFinished(async () => {
    await close()
    await database.drop()
  })
  const emails = [
    'Ольга@Пример.рф',
    'ольга@пример。рф',
    'petr@ｅxample.org',
    'petr@example.org',
    'vera@example.org.',
    'Anna+1@example.org',
  ]
  for (const [index, email] of emails.entries()) {
    const email_key = email.normalize('NFC').toLowerCase()
    await db
      .insertInto('users')
      .values({ email, email_key, username: `user_${index}` })
      .execute()
  }
  await renewEmailKeys(db as unknown as Kysely<unknown>)
  const rows = await db.selectFrom('users').select(['email', 'email_key']).orderBy('id').execute()
  expect(Object.fromEntries(rows.map((row) => [row.email, row.email_key]))).toEqual({
    'Ольга@Пример.рф': 'ольга@xn--e1afmkfd.xn--p1ai',
    'ольга@пример。рф': 'ольга@пример。рф',
    'petr@ｅxample.org': 'petr@ｅxample.org',
    'petr@example.org': 'petr@example.org',
    'vera@example.org.': 'vera@example.org',
    'Anna+1@example.org': 'anna+1@example.org',
  })
})
