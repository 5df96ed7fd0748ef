import { expect, test } from 'vitest'
import type { Session } from '../../../contract/sessions.ts'
import { DEVICE, type TestUser } from '../../testing/client.ts'
import { isSignedIn } from '../../testing/email-change-calls.ts'
import { expectRefusal } from '../../testing/expect-refusal.ts'
import { appForFile, appForTest } from '../../testing/test-app.ts'
import { refresh, signInTwice } from './sessions.fixture.ts'
import { isSessionOpen } from './sessions.repository.ts'

const app = await appForFile()

async function sessionsOf({ token }: TestUser): Promise<Session[]> {
  return (await app.call('GET', '/sessions', { token })).body.sessions
}

test('the list shows each live session with its device and time, the current one first', async () => {
  const [laptop, phone] = await signInTwice(app)
  const [first, second, ...rest] = await sessionsOf(laptop)
  expect(rest).toEqual([])
  expect(first).toMatchObject({ current: true, device: DEVICE })
  expect(second).toMatchObject({ current: false, device: DEVICE })
  expect(Math.abs((first?.createdAt ?? 0) - Date.now() / 1000)).toBeLessThan(60)
  expect((await sessionsOf(phone)).map(({ id }) => id)).toEqual([second?.id, first?.id])
})

test('the next request of a closed session is 401, also on another node', async () => {
  const node = await appForTest({ databaseUrl: app.databaseUrl })
  const [laptop, phone] = await signInTwice(app)
  expect(await isSignedIn(node, phone)).toBe(true)
  const [, other] = await sessionsOf(laptop)
  const closed = await app.call('DELETE', `/sessions/${other?.id}`, { token: laptop.token })
  expect(closed.status).toBe(204)
  for (const on of [node, app]) expect(await isSignedIn(on, phone)).toBe(false)
  expectRefusal(await refresh(node, phone), 'SESSION_CLOSED')
  expect(await isSignedIn(node, laptop)).toBe(true)
})

test('closing all others leaves the current one and those of other users', async () => {
  const [laptop, phone] = await signInTwice(app)
  const petr = await app.signUp()
  expect((await app.call('DELETE', '/sessions', { token: laptop.token })).status).toBe(204)
  expect(await sessionsOf(laptop)).toMatchObject([{ current: true }])
  expect(await isSignedIn(app, phone)).toBe(false)
  expect(await isSignedIn(app, petr)).toBe(true)
})

test('logging out closes the current session and no other', async () => {
  const [laptop, phone] = await signInTwice(app)
  expect((await app.call('DELETE', '/sessions/current', { token: laptop.token })).status).toBe(204)
  expect(await isSignedIn(app, laptop)).toBe(false)
  expectRefusal(await refresh(app, laptop), 'UNAUTHORIZED')
  expect(await isSignedIn(app, phone)).toBe(true)
  // Changes that have waited for the logout ask again.
  const isOpen = ({ token }: TestUser) => {
    const [userId = '', sessionId = ''] = token.split('.')
    return isSessionOpen(app.db, { userId, sessionId })
  }
  expect([await isOpen(laptop), await isOpen(phone)]).toEqual([false, true])
})

test('the current session is not closed by its id: CURRENT_SESSION', async () => {
  const olga = await app.signUp()
  const [current] = await sessionsOf(olga)
  const answer = await app.call('DELETE', `/sessions/${current?.id}`, { token: olga.token })
  expectRefusal(answer, 'CURRENT_SESSION')
  expect(await isSignedIn(app, olga)).toBe(true)
})
