import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  type AccountFixture,
  createAccountFixture,
  newEmail,
  readOwned,
} from './testing/account-fixture.ts'
import { DEVICE } from './testing/client.ts'
import { allEndpoints } from './testing/endpoints.ts'
import { signUpModerator } from './testing/moderation-calls.ts'
import { startTestApp, type TestApp } from './testing/test-app.ts'

/** Who calls: the owner of the fixture, another user, or a visitor, who has no token. */
type Caller = { token?: string; cookie?: string; clientToken: string }
type Sent = { path: string; body?: object; headers?: Record<string, string> }

/** What each call returns to the owner, another user and a visitor; to a moderator where that differs from another user. */
type Row = {
  call: (fixture: AccountFixture, caller: Caller) => Sent
  owner: string
  other: string
  visitor: string
  moderator?: string
}

const STRANGER = '401 UNAUTHORIZED'
const text = 'Переписано'

const anyone = { owner: '200', other: '200', visitor: '200' }
const signedIn = { owner: '200', other: '200', visitor: STRANGER }
const sealed = { owner: '200', other: '400 OPERATION_EXPIRED', visitor: '400 OPERATION_EXPIRED' }
const UNKNOWN = '404 NOT_FOUND'
const forModerators = { owner: UNKNOWN, other: UNKNOWN, visitor: UNKNOWN }
const started = { owner: '201', other: '201', visitor: '201' }

const start =
  (path: string, email: (fixture: AccountFixture) => string) =>
  (fixture: AccountFixture, who: Caller) => ({
    path,
    body: { email: email(fixture), clientToken: who.clientToken, device: DEVICE },
  })
const verify =
  (path: string, which: 'change' | 'login' | 'registration') =>
  (fixture: AccountFixture, who: Caller) => ({
    path: `${path}/${fixture[which].id}/verify`,
    body: { confirmCode: fixture[which].confirmCode, clientToken: who.clientToken },
  })
const ofPost =
  (rest = '', body?: object) =>
  ({ post }: AccountFixture) => ({ path: `/posts/${post.id}${rest}`, ...(body && { body }) })
const at = (path: string, body?: object) => () => ({ path, ...(body && { body }) })

const TABLE: Record<string, Row> = {
  'POST /registrations': { call: start('/registrations', newEmail), ...started },
  'POST /registrations/:id/verify': { call: verify('/registrations', 'registration'), ...sealed },
  'POST /logins': { call: start('/logins', ({ owner }) => owner.email), ...started },
  'POST /logins/:id/verify': { call: verify('/logins', 'login'), ...sealed },

  'POST /codes/:id/mail': {
    call: ({ login }, { clientToken }) => ({
      path: `/codes/${login.id}/mail`,
      body: { clientToken },
    }),
    ...sealed,
  },

  'PATCH /sessions/current': {
    // A stolen cookie alone is of no use to another client.
    call: ({ owner }, { clientToken, cookie }) => ({
      path: '/sessions/current',
      body: { clientToken },
      ...(cookie && { headers: { cookie: owner.cookie } }),
    }),
    owner: '200',
    other: STRANGER,
    visitor: STRANGER,
  },
  'GET /sessions': { call: at('/sessions'), ...signedIn },
  'DELETE /sessions/:id': {
    call: ({ sessionId }) => ({ path: `/sessions/${sessionId}` }),
    owner: '204',
    other: '404 SESSION_NOT_FOUND',
    visitor: STRANGER,
  },
  'DELETE /sessions': { call: at('/sessions'), owner: '204', other: '204', visitor: STRANGER },
  'DELETE /sessions/current': {
    call: at('/sessions/current'),
    owner: '204',
    other: '204',
    visitor: STRANGER,
  },

  'GET /users/current': { call: at('/users/current'), ...signedIn },
  'PUT /users/current/email': {
    call: (_house, { clientToken }) => ({
      path: '/users/current/email',
      body: { email: newEmail(), clientToken },
    }),
    owner: '201',
    other: '201',
    visitor: STRANGER,
  },
  'PUT /users/current/email/:id/verify': {
    call: verify('/users/current/email', 'change'),
    ...sealed,
    visitor: STRANGER,
  },
  'POST /email-changes/:id/undo': {
    // The mailed link is enough, whoever opens it.
    call: at('/email-changes/unknown/undo', { secret: 'guessed' }),
    owner: '400 LINK_EXPIRED',
    other: '400 LINK_EXPIRED',
    visitor: '400 LINK_EXPIRED',
  },
  'GET /users/:username/validation': {
    // One's own name is free only for oneself.
    call: ({ owner }) => ({ path: `/users/${owner.username}/validation` }),
    owner: '200',
    other: '400 USERNAME_ALREADY_EXISTS',
    visitor: STRANGER,
  },
  'PATCH /users/current/profile': {
    call: ({ owner }) => ({ path: '/users/current/profile', body: { username: owner.username } }),
    owner: '200',
    other: '400 USERNAME_ALREADY_EXISTS',
    visitor: STRANGER,
  },

  'GET /posts': { call: at('/posts'), ...anyone },
  'GET /posts/:id': { call: ofPost(), ...anyone },
  'POST /posts': { call: at('/posts', { text }), owner: '201', other: '201', visitor: STRANGER },
  'PATCH /posts/:id': {
    call: ofPost('', { text }),
    owner: '200',
    other: '404 POST_NOT_FOUND',
    visitor: STRANGER,
  },
  'DELETE /posts/:id': {
    call: ofPost(),
    owner: '204',
    other: '404 POST_NOT_FOUND',
    visitor: STRANGER,
  },
  'GET /posts/replies': { call: at('/posts/replies'), ...signedIn },
  'GET /posts/:id/replies': { call: ofPost('/replies'), ...anyone },
  'POST /posts/:id/replies': {
    call: ofPost('/replies', { text }),
    owner: '201',
    other: '201',
    visitor: STRANGER,
  },
  'POST /posts/:id/likes': { call: ofPost('/likes'), ...signedIn },
  'DELETE /posts/:id/likes': { call: ofPost('/likes'), ...signedIn },
  'GET /reports/reasons': { call: at('/reports/reasons'), ...anyone },
  'GET /users/current/reports': { call: at('/users/current/reports'), ...signedIn },
  'PUT /users/current/reports/seen': {
    call: at('/users/current/reports/seen'),
    owner: '204',
    other: '204',
    visitor: STRANGER,
  },
  'GET /users/current/removed-posts': { call: at('/users/current/removed-posts'), ...signedIn },
  'POST /users/current/removed-posts/:id/appeal': {
    // Removed posts of others answer as this one, which was not removed.
    call: ({ post }) => ({
      path: `/users/current/removed-posts/${post.id}/appeal`,
      body: { text },
    }),
    owner: '404 POST_NOT_FOUND',
    other: '404 POST_NOT_FOUND',
    visitor: STRANGER,
  },

  'GET /moderation/queue': {
    call: at('/moderation/queue'),
    ...forModerators,
    moderator: '200',
  },
  'POST /moderation/posts/:id/decision': {
    call: ({ post }) => ({
      path: `/moderation/posts/${post.id}/decision`,
      body: { verdict: 'remove' },
    }),
    ...forModerators,
    // Nobody has reported it.
    moderator: '404 POST_NOT_FOUND',
  },
  'POST /moderation/decisions/:id/undo': {
    call: at('/moderation/decisions/1/undo'),
    ...forModerators,
    moderator: '400 DECISION_FINAL',
  },
  'PUT /moderation/users/:id/block': {
    call: ({ owner }) => ({
      path: `/moderation/users/${owner.id}/block`,
      body: { reason: 'Спам', days: 1 },
    }),
    ...forModerators,
    moderator: '200',
  },
  'DELETE /moderation/users/:id/block': {
    call: ({ owner }) => ({ path: `/moderation/users/${owner.id}/block` }),
    ...forModerators,
    moderator: '204',
  },
  'POST /posts/:id/reports': {
    call: ofPost('/reports?reason_id=1'),
    owner: '400 INVALID_REQUEST',
    other: '204',
    visitor: STRANGER,
  },
}

const CELLS = Object.entries(TABLE).flatMap(([name, { call, ...answers }]) =>
  (['owner', 'other', 'visitor', 'moderator'] as const).flatMap((who) => {
    const is = answers[who]
    return is === undefined ? [] : [{ name, call, who, is }]
  }),
)

let app: TestApp
let sharedHouse: AccountFixture
beforeAll(async () => {
  app = await startTestApp()
  sharedHouse = await createAccountFixture(app)
})
afterAll(() => app.close())

test('the table says for every call of the contract what it returns to the owner, another user and a visitor', async () => {
  expect(Object.keys(TABLE).sort()).toEqual([...(await allEndpoints()).keys()].sort())
})

test.each(CELLS)('$name returns to the $who: $is', async ({ name, call, who, is }) => {
  const isChanging = who === 'owner' || who === 'moderator'
  const fixture = isChanging ? await createAccountFixture(app) : sharedHouse
  const caller = who === 'owner' ? fixture.owner : await callerFor(who)
  const before = await readOwned(app, fixture)
  const { path, ...sent } = call(fixture, caller)
  const [method = ''] = name.split(' ')
  const { status, body } = await app.call(method, path, { token: caller.token, ...sent })
  expect([status, body?.code].filter(Boolean).join(' ')).toBe(is)
  if (!isChanging) expect(await readOwned(app, fixture)).toEqual(before)
})

async function callerFor(who: 'other' | 'visitor' | 'moderator'): Promise<Caller> {
  if (who === 'moderator') return signUpModerator(app)
  return who === 'other' ? app.signUp() : { clientToken: randomUUID() }
}
