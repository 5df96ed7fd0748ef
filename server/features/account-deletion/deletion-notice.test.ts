import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { formatDay } from '../../../contract/dates.ts'
import { leave } from '../../testing/account-deletion-calls.ts'
import { mailAppForTest } from '../../testing/test-app.ts'
import { eraseNow } from './account-deletion.service.ts'

const SOON = { timeout: 15_000 }
const CONTACT = 'help@vslukh.example'
const config = { contactEmail: CONTACT, publicUrl: 'https://vslukh.example' }

test('whose account is deleted gets a mail that says what was asked, until when it can return, and whom to ask', async () => {
  const { app, mailbox } = await mailAppForTest(config)
  const olga = await app.signUp()
  const { status, body } = await leave(app, olga)
  expect(status).toBe(200)
  await expect
    .poll(() => mailbox.mails.filter(({ to }) => to === olga.email).at(-1)?.subject, SOON)
    .toBe('Аккаунт удалён · Вслух')
  const { text, autoSubmitted } = await mailbox.mailTo(olga.email)
  expect(autoSubmitted).toBe('auto-generated')
  expect(text).toContain(`Аккаунт ${olga.username} на сайте «Вслух» удалён`)
  expect(text).toContain(`До ${formatDay(body.erasedAt * 1000)} аккаунт можно вернуть`)
  expect(text).toContain('https://vslukh.example\n')
  expect(text).toContain(`напишите нам: ${CONTACT}`)
})

test('a refused code and an erasure by the operator send no such mail', async () => {
  const { app, mailbox } = await mailAppForTest(config)
  const [olga, petr] = [await app.signUp(), await app.signUp()]
  const { token, clientToken } = olga
  const start = await app.call('POST', '/users/current/deletion', { token, body: { clientToken } })
  const confirmCode = app.codeFor(start.body.id) === '000000' ? '000001' : '000000'
  const path = `/users/current/deletion/${start.body.id}/verify`
  await app.call('POST', path, { token, body: { confirmCode, clientToken } })
  const publishChange = async () => {}
  const nameKey = Buffer.alloc(32)
  await eraseNow(app.db, { userId: petr.id, nameKey, actor: 'operator', publishChange })
  const jobs = async () => (await sql`SELECT FROM graphile_worker.jobs`.execute(app.db)).rows.length
  await expect.poll(jobs, SOON).toBe(0)
  expect(mailbox.mails.map(({ subject }) => subject)).not.toContainEqual(
    expect.stringContaining('удалён'),
  )
})

test('the mail with the code that deletes an account says that somebody is inside, and where to close their session', async () => {
  const { app, mailbox } = await mailAppForTest(config)
  const olga = await app.signUp()
  await leave(app, olga)
  const isCode = ({ subject }: { subject: string }) => subject.includes('код для удаления')
  await expect.poll(() => mailbox.mails.some(isCode), SOON).toBe(true)
  const text = mailbox.mails.find(isCode)?.text
  expect(text).toContain('кто-то вошёл в ваш аккаунт. Завершите чужую сессию:')
  expect(text).toContain('\nhttps://vslukh.example/settings/devices')
  expect(text).not.toContain('просто удалите')
})
