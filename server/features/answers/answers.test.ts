import { sql } from 'kysely'
import { beforeEach, expect, test } from 'vitest'
import type { ReceivedRepliesPage } from '../../../contract/answers.ts'
import { queueMail } from '../../kernel/mail/queue-mail.ts'
import { addJob } from '../../kernel/queue/queue.ts'
import { comeBack } from '../../testing/calls/account-deletion-calls.ts'
import { passSessionTime, passTime } from '../../testing/database/passing-time.ts'
import { atOnce } from '../../testing/http/at-once.ts'
import type { TestUser } from '../../testing/http/client.ts'
import { expectRefusal } from '../../testing/http/expect-refusal.ts'
import { mailAppForFile } from '../../testing/test-app.ts'
import type { ReplyMail } from './answers.mail.ts'

const HOUR = 3600
const DAY = 24 * HOUR

const { app, mailbox } = await mailAppForFile({ publicUrl: 'https://wall.example' })
let anna: TestUser
let petr: TestUser
let vera: TestUser
beforeEach(async () => {
  ;[anna, petr, vera] = await Promise.all([app.signUp(), app.signUp(), app.signUp()])
})

const received = (user: TestUser, query = ''): Promise<ReceivedRepliesPage> =>
  app.read(`/posts/replies/received${query}`, user)
const state = () => app.read('/users/current/received', anna)
const see = (seen: number) =>
  app.call('PUT', '/users/current/received', { token: anna.token, body: { seen } })
const texts = ({ posts }: ReceivedRepliesPage) => posts.map(({ text }) => text)
const mute = (id: string, method: 'PUT' | 'DELETE' = 'PUT') =>
  app.call(method, `/posts/${id}/muted`, { token: anna.token })

test('others’ replies to my posts and replies are listed, newest first, with the number under which I received each', async () => {
  const none = { posts: [], firstPage: 1, lastPage: 1, total: 0, nextCursor: null }
  expect(await received(anna)).toEqual({ ...none, seen: 0 })
  const post = await app.publish(anna, 'Вопрос')
  const first = await app.reply(petr, post.id, 'Ответ')
  const own = await app.reply(anna, first.id, 'Уточнение')
  await app.reply(vera, own.id, 'Ответ на уточнение')
  await app.reply(anna, post.id, 'Себе')
  const page = await received(anna)
  expect(texts(page)).toEqual(['Ответ на уточнение', 'Ответ'])
  expect(page.posts.map(({ received_no }) => received_no)).toEqual([2, 1])
  expect(page.posts[1]?.actions.replied_post?.text).toBe('Вопрос')
  expect(page).toMatchObject({ seen: 0, total: 2 })
  expect(texts(await received(petr))).toEqual(['Уточнение'])
})

test('unread counts up to 100 what the list shows after the mark, which only moves forward and never past what came', async () => {
  const post = await app.publish(anna)
  const [, second] = [await app.reply(petr, post.id), await app.reply(vera, post.id)]
  expect((await state()).unread).toBe(2)
  expect((await see(1)).status).toBe(204)
  expect((await state()).unread).toBe(1)
  await see(0)
  expect(await received(anna)).toMatchObject({ seen: 1 })
  await see(1_000_000)
  expect(await received(anna)).toMatchObject({ seen: 2 })
  await app.reply(petr, post.id)
  expect((await state()).unread).toBe(1)
  await app.call('DELETE', `/posts/${second.id}`, { token: vera.token })
  expect((await state()).unread).toBe(1)
  for (const wrong of [-1, 1e19, 1e300]) expectRefusal(await see(wrong), 'INVALID_REQUEST')
  await app.sql`INSERT INTO posts (owner_id, text, replied_post_id, parent_post_id, recipient_id, received_no)
    SELECT ${petr.id}, 'Ответ', ${post.id}, ${post.id}, ${anna.id}, n FROM generate_series(4, 104) n`
  expect((await state()).unread).toBe(100)
})

test('replies that come at once, in whatever order they commit, each have a number of their own and none is skipped by the mark', async () => {
  const posts = [await app.publish(anna), await app.publish(petr), await app.publish(vera)]
  const people = [anna, petr, vera]
  const shown = new Set<string>()
  const readAll = async () => {
    const page = await received(anna, '?limit=50')
    const fresh = page.posts.filter(({ received_no }) => received_no > page.seen)
    for (const { id } of fresh) {
      expect(shown).not.toContain(id)
      shown.add(id)
    }
    const newest = page.posts[0]?.received_no
    if (newest) await see(newest)
  }
  const replies = Array.from({ length: 60 }, (_, n) => async () => {
    await app.reply(people[n % 3] as TestUser, posts[(n >> 1) % 3]?.id ?? '')
    if (n % 6 === 0) await readAll()
  })
  // Only one tab of Anna's reads at a time.
  for (let from = 0; from < replies.length; from += 6) await atOnce(replies.slice(from, from + 6))
  await readAll()
  const list: ReceivedRepliesPage = await app.read(`/posts/${posts[0]?.id}/replies?limit=50`)
  const replied = list.posts.filter(({ owner }) => owner.id !== anna.id)
  expect([...shown].sort()).toEqual(replied.map(({ id }) => id).sort())
})

test('a muted post brings no further replies, until it is unmuted', async () => {
  const post = await app.publish(anna)
  await app.reply(petr, post.id, 'До')
  expectRefusal(await mute('x'), 'POST_NOT_FOUND')
  expect((await mute(post.id)).status).toBe(204)
  expect((await state()).muted).toEqual([post.id])
  await app.reply(petr, post.id, 'Во время')
  expect((await mute(post.id, 'DELETE')).status).toBe(204)
  await app.reply(petr, post.id, 'После')
  expect(await state()).toMatchObject({ unread: 2, muted: [] })
  expect(texts(await received(anna))).toEqual(['После', 'До'])
})

test('mails about replies can be turned off and on, also before the first reply', async () => {
  expect(await state()).toEqual({ unread: 0, muted: [], wantsMail: true })
  for (const wantsMail of [false, true]) {
    const path = '/users/current/reply-mails'
    await app.call('PUT', path, { token: anna.token, body: { wantsMail } })
    expect((await state()).wantsMail).toBe(wantsMail)
  }
})

/** Passes time and mails. Returns the mails about replies that Anna has got so far. */
async function mailsAfter(seconds: number) {
  await passAll(seconds)
  await mailReplies()
  return mailsTo(anna)
}

/** Moves every visit, reply and mail into the past. */
async function passAll(seconds: number): Promise<void> {
  await passSessionTime(app, seconds)
  await passTime(app.db, seconds, 'known_clients', 'used_at')
  await passTime(app.db, seconds, 'posts', 'created_at')
  await passTime(app.db, seconds, 'answer_states', 'mailed_at')
}

/** Runs the job that mails about replies. Resolves when all queued mails are sent. */
async function mailReplies(): Promise<void> {
  await addJob(app.db, 'mail-replies')
  const atWork = () => app.sql`
    SELECT FROM graphile_worker.jobs WHERE task_identifier = 'mail-replies'
    UNION ALL SELECT FROM outbox WHERE payload IS NOT NULL`
  await expect.poll(atWork).toEqual([])
}

/** Anna is there: her browser gets a new token. */
const visit = () => app.sql`UPDATE sessions SET used_at = now() WHERE user_id = ${anna.id}`

const mailsTo = ({ email }: TestUser) =>
  mailbox.mails.filter(({ to, subject }) => to === email && /ответили|упомянули/.test(subject))

test('a person who is away for an hour after a reply is mailed its text, with a link to the replies and one that stops such mails', async () => {
  const post = await app.publish(anna, 'Вопрос')
  await passAll(60)
  await app.reply(petr, post.id, 'Ответ Петра')
  expect(await mailsAfter(0)).toEqual([])
  const [mail, ...others] = await mailsAfter(HOUR)
  expect(others).toEqual([])
  expect(mail?.subject).toBe('Вам ответили · Вслух')
  expect(mail?.text).toContain(`${petr.username}:\n> Ответ Петра\n\n`)
  const unsubscribeUrl = /^List-Unsubscribe:\s+<(\S+)>\r$/m.exec(mail?.source ?? '')?.[1]
  expect(unsubscribeUrl).toMatch(/^https:\/\/wall\.example\/reply-mails\?token=\S+$/)
  expect(mail?.text.match(/https?:\S+/g)).toEqual(['https://wall.example/replies', unsubscribeUrl])
  expect(mail?.source).toMatch(/^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r$/m)
  expect(mailsTo(petr)).toEqual([])
})

test('a mail about mentions says so, alone and beside replies', async () => {
  const mailed = async () => {
    await passAll(DAY)
    await mailReplies()
    return mailsTo(anna).at(-1)
  }
  await passAll(60)
  await app.publish(petr, `Зову @${anna.username}`)
  const mention = await mailed()
  expect(mention?.subject).toBe('Вас упомянули · Вслух')
  expect(mention?.text).toMatch(/^Вас упомянули на сайте «Вслух»\./m)
  expect(mention?.text).toContain(`> Зову @${anna.username}\n`)
  await app.publish(petr, `Снова зову @${anna.username}`)
  await app.reply(vera, (await app.publish(anna)).id)
  const both = await mailed()
  expect(both?.subject).toBe('Вам ответили · Вслух')
  expect(both?.text).toMatch(/^На ваши записи на сайте «Вслух» ответили, и вас упомянули\./m)
})

test('no mail is sent if the person was there after the reply, has seen it or has muted its author, or if the reply is gone', async () => {
  const post = await app.publish(anna)
  const reply = await app.reply(petr, post.id)
  await passAll(HOUR)
  await visit()
  expect(await mailsAfter(0)).toEqual([])

  await passAll(HOUR)
  await app.call('DELETE', `/posts/${reply.id}`, { token: petr.token })
  await app.reply(petr, post.id)
  await see(2)
  expect(await mailsAfter(HOUR)).toEqual([])

  await app.reply(petr, post.id)
  await app.call('PUT', `/users/${petr.id}/mute`, { token: anna.token })
  expect(await mailsAfter(HOUR)).toEqual([])
})

test.each(["email = 'new@example.org'", 'deleted_at = now()'])(
  'a mail that waits is not sent to an address or an account that was left: %s',
  async (change) => {
    const post = await app.publish(anna)
    await app.reply(petr, post.id)
    const { email: to, id: userId } = anna
    await app.sql`UPDATE users SET ${sql.raw(change)} WHERE id = ${userId}`
    const expiresAt = Date.now() + DAY * 1000
    const mail: ReplyMail = { to, userId, afterNo: '0', isLast: false, expiresAt }
    await queueMail(app.db, 'send-reply-mail', mail)
    await expect.poll(() => app.sql`SELECT FROM outbox WHERE payload IS NOT NULL`).toEqual([])
    expect(mailsTo(anna)).toEqual([])
  },
)

test('a mail that was sent while the clock was 100 days ahead holds back no later one', async () => {
  const post = await app.publish(anna)
  await app.reply(petr, post.id)
  expect(await mailsAfter(HOUR)).toHaveLength(1)
  await passTime(app.db, -100 * DAY, 'answer_states', 'mailed_at')
  await app.reply(vera, post.id)
  expect(await mailsAfter(HOUR)).toHaveLength(2)
})

test('a visit while the clock was 100 days ahead holds back no later mail', async () => {
  await passSessionTime(app, -100 * DAY)
  await passTime(app.db, -100 * DAY, 'known_clients', 'used_at')
  const post = await app.publish(anna)
  await app.reply(petr, post.id)
  expect(await mailsAfter(HOUR)).toHaveLength(1)
})

test('there is one mail a day at most, and after three without a visit no more until one', async () => {
  const post = await app.publish(anna)
  const answerAndWait = async (seconds: number) => {
    await app.reply(petr, post.id)
    return mailsAfter(seconds)
  }
  await passAll(60)
  expect(await answerAndWait(HOUR)).toHaveLength(1)
  expect(await answerAndWait(HOUR)).toHaveLength(1)
  expect(await answerAndWait(DAY)).toHaveLength(2)
  const third = await answerAndWait(DAY)
  expect(third.map(({ text }) => /писем больше не будет/.test(text))).toEqual([false, false, true])
  expect(await answerAndWait(DAY)).toHaveLength(3)
  await visit()
  await passAll(60)
  expect(await answerAndWait(DAY)).toHaveLength(4)
  for (const _ of ['fifth', 'sixth']) await answerAndWait(DAY)
  // A sign-in is a visit, also after a logout, which deletes its session.
  await comeBack(app, anna.email)
  await app.sql`DELETE FROM sessions WHERE user_id = ${anna.id}`
  await passAll(60)
  expect(await answerAndWait(DAY)).toHaveLength(7)
})

const ONE_CLICK = new URLSearchParams({ 'List-Unsubscribe': 'One-Click' })
const wantsMail = async () => (await state()).wantsMail

test('the link in the header unsubscribes by one POST of a form, without a sign-in; opening it changes nothing', async () => {
  const post = await app.publish(anna)
  await passAll(60)
  await app.reply(petr, post.id)
  const [mail] = await mailsAfter(HOUR)
  const path = /<https:\/\/wall\.example(\/\S+)>/.exec(mail?.source ?? '')?.[1] ?? ''
  expect((await fetch(app.url + path)).status).toBe(200)
  expect(await wantsMail()).toBe(true)
  const unsubscribe = (to: string) =>
    fetch(app.url + to, { method: 'POST', body: ONE_CLICK, headers: { accept: '*/*' } })
  expect((await unsubscribe(path.replace(/.$/, 'x'))).status).toBe(404)
  expect((await unsubscribe('/reply-mails?token=a&token=b')).status).toBe(404)
  expect(await wantsMail()).toBe(true)
  expect((await unsubscribe(path)).status).toBe(204)
  expect(await wantsMail()).toBe(false)
  await app.reply(petr, post.id)
  expect(await mailsAfter(DAY)).toHaveLength(1)
  await app.db.deleteFrom('users').where('id', '=', anna.id).execute()
  expect((await unsubscribe(path)).status).toBe(204)
})

test('the header of a mail from an older release unsubscribes too, and opened it leads to the page', async () => {
  const path = `/api/v1/reply-mails/${app.unsubscribeTokenFor(anna.id)}`
  const opened = await fetch(app.url + path, { redirect: 'manual' })
  const location = `/reply-mails?token=${app.unsubscribeTokenFor(anna.id)}`
  expect([opened.status, opened.headers.get('location')]).toEqual([302, location])
  expect(await wantsMail()).toBe(true)
  const stopped = await fetch(app.url + path, { method: 'POST', body: ONE_CLICK })
  expect(stopped.status).toBe(204)
  expect(await wantsMail()).toBe(false)
})

test('no line of the log contains the token of a link that stops mails', async () => {
  const token = app.unsubscribeTokenFor(anna.id)
  for (const method of ['GET', 'POST']) {
    for (const path of [`/reply-mails?token=${token}`, `/api/v1/reply-mails/${token}`]) {
      const { headers } = await fetch(app.url + path, { method, redirect: 'manual' })
      expect(headers.get('location') ?? '').not.toMatch(/^http/)
    }
  }
  await app.logLine('"route":"/reply-mails"', 2)
  expect(app.logged.filter((line) => line.includes(token))).toEqual([])
})
