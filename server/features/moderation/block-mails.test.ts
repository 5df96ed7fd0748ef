import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TestUser } from '../../testing/client.ts'
import type { Mailbox } from '../../testing/mailbox.ts'
import { decide, report, signUpModerator } from '../../testing/moderation-calls.ts'
import { startMailApp, type TestApp } from '../../testing/test-app.ts'
import { decide as decideBy, mailDecision } from './decisions.service.ts'

let app: TestApp
let mailbox: Mailbox
let moderator: TestUser
let reporter: TestUser
beforeAll(async () => {
  ;({ app, mailbox } = await startMailApp())
  moderator = await signUpModerator(app)
  reporter = await app.signUp()
})
afterAll(() => app.close())

test('a block is told by a mail with its end and reason', async () => {
  const user = await app.signUp()
  const body = { reason: 'Травля.', days: 7 }
  await app.call('PUT', `/moderation/users/${user.id}/block`, { token: moderator.token, body })
  const { subject, text } = await mailbox.mailAbout(user.email, /можете только читать/)
  expect(subject).toBe('Вы можете только читать · Вслух')
  expect(text).toContain('Причина: Травля.\n')
  expect(text).toMatch(/^До \d+\u00a0[а-я]+\u00a0\d{4} вы можете только читать\.$/m)
})

test('the mail about a removal that blocks the author says so, and is the only one', async () => {
  const author = await app.signUp()
  const post = await app.publish(author)
  await report(app, reporter, { postId: post.id })
  const block = { days: null }
  await decide(app, moderator, { postId: post.id, verdict: 'remove', reason: 'Спам', block })
  const { text } = await mailbox.mailAbout(author.email, /запись удалена/)
  expect(text).toContain('\n> Говорят, стены слышат.\n\nТеперь вы можете только читать.')
  const others = mailbox.mails.filter(
    ({ to, subject }) => to === author.email && !/код|^\d/.test(subject),
  )
  expect(others).toHaveLength(1)
})

test('a wave of removed posts is one mail that says how many', async () => {
  const author = await app.signUp()
  const decided = []
  for (let posts = 0; posts < 7; posts++) {
    const { id: postId } = await app.publish(author, `Реклама ${posts}`)
    const decision = { postId, verdict: 'remove', actor: 'masha', reason: 'Спам' } as const
    const run = app.db.transaction()
    const more = { notifies: 'reporters', removedDays: 30 } as const
    decided.push(await run.execute((tx) => decideBy(tx, { ...decision, ...more })))
  }
  const mail = decided[0]?.mail
  if (mail) await mailDecision(app.db, { ...mail, posts: 7 })
  const { subject, text } = await mailbox.mailAbout(author.email, /удален/)
  expect(subject).toBe('Ваши записи удалены · Вслух')
  expect(text).toContain('удалил ваши записи на сайте «Вслух»: 7.\nПричина: Спам.')
  expect(text).toContain('Текст первой из них:\n> Реклама 0\n\nЕсли вы не согласны')
})
