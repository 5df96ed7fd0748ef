import { afterAll, expect, test } from 'vitest'
import { newEmail } from '../../testing/account-fixture.ts'
import { atOnce } from '../../testing/at-once.ts'
import type { TestUser } from '../../testing/client.ts'
import { lockWaits } from '../../testing/databases.ts'
import {
  changeEmail,
  isSignedIn,
  startChange,
  storedEmail,
  undoChange,
  verifyChange,
} from '../../testing/email-change-calls.ts'
import { countCodes, startAt, verifyAt } from '../../testing/sign-in-calls.ts'
import { startMailApp } from '../../testing/test-app.ts'

const { app, mailbox } = await startMailApp()
afterAll(() => app.close())

const move = (user: TestUser, email: string, old?: string) =>
  changeEmail({ app, mailbox }, user, { email, ...(old && { old }) })

test('one of two concurrent changes of an account succeeds, and ends the other', async () => {
  const laptop = await app.signUp()
  const phone = await app.signIn(laptop.email, 'phone')
  const [ours, theirs] = [newEmail(), newEmail()]
  const ids = [
    (await startChange(app, laptop, ours)).body.id,
    (await startChange(app, phone, theirs)).body.id,
  ] as const
  const answers = await Promise.all([
    verifyChange(app, laptop, ids[0]),
    verifyChange(app, phone, ids[1]),
  ])
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
  expect(answers.find(({ status }) => status !== 200)?.body.code).toBe('OPERATION_EXPIRED')
  expect(await storedEmail(app, laptop)).toBe(answers[0].status === 200 ? ours : theirs)
})

test('one of 20 concurrent uses of a link succeeds, and the others find it used', async () => {
  const olga = await app.signUp()
  const link = await move(olga, newEmail())
  const answers = await atOnce(Array.from({ length: 20 }, () => () => undoChange(app, link)))
  expect(countCodes(answers)).toEqual({ ok: 1, LINK_EXPIRED: 19 })
})

test('an undo that races with the thief’s next change wins in either order', async () => {
  for (let round = 0; round < 4; round++) {
    const olga = await app.signUp()
    const link = await move(olga, newEmail())
    const next = (await startChange(app, olga, newEmail())).body.id
    const [undone, moved] = await Promise.all([
      undoChange(app, link),
      verifyChange(app, olga, next),
    ])
    expect(undone.status).toBe(204)
    expect([200, 400, 401]).toContain(moved.status)
    expect(await storedEmail(app, olga)).toBe(olga.email)
    expect(await isSignedIn(app, olga)).toBe(false)
  }
})

test('when two links of one account are used concurrently, the first address wins without an error', async () => {
  for (let round = 0; round < 4; round++) {
    const olga = await app.signUp()
    const second = newEmail()
    const links = [await move(olga, second), await move(olga, newEmail(), second)] as const
    const [first, later] = await Promise.all([undoChange(app, links[0]), undoChange(app, links[1])])
    expect(first.status).toBe(204)
    expect([204, 400]).toContain(later.status)
    expect(await storedEmail(app, olga)).toBe(olga.email)
  }
})

test.each(['/logins', '/registrations'] as const)(
  'a sign-in by %s that waits for an undo opens no session with the undone address',
  async (path) => {
    const olga = await app.signUp()
    const stolen = newEmail()
    await move(olga, stolen)
    const { id } = (await startAt(app, path, { email: stolen })).body
    const sessions = app.db.selectFrom('sessions').select('id').where('user_id', '=', olga.id)
    const signIn = await app.db.transaction().execute(async (tx) => {
      await tx.selectFrom('users').select('id').where('id', '=', olga.id).forUpdate().execute()
      const answer = verifyAt(app, path, { id, code: app.codeFor(id) })
      await expect.poll(() => lockWaits(app)).toBeGreaterThan(0)
      await tx
        .updateTable('users')
        .set({ email: olga.email, email_key: olga.email })
        .where('id', '=', olga.id)
        .execute()
      await tx.deleteFrom('sessions').where('user_id', '=', olga.id).execute()
      return { answer }
    })
    const { status } = await signIn.answer
    // The registration proves an address that no account has by now, so it creates a new account.
    expect(status).toBe(path === '/logins' ? 400 : 200)
    expect(await sessions.execute()).toEqual([])
  },
)
