import { type AccountFixture, newEmail } from './testing/account-fixture.ts'
import { DEVICE } from './testing/client.ts'

/** The owner of the fixture, another user, or a visitor, who has no token. */
export type Caller = { token?: string; cookie?: string; clientToken: string }
type Sent = { path: string; body?: object; headers?: Record<string, string> }

/** A moderator's answer is given only if it differs from another user's. */
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
const created = { owner: '201', other: '201', visitor: STRANGER }
const done = { owner: '204', other: '204', visitor: STRANGER }
const ofOwner = { owner: '204', other: '404 POST_NOT_FOUND', visitor: STRANGER }
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
  (path: string, which: 'change' | 'deletion' | 'login' | 'registration') =>
  (fixture: AccountFixture, who: Caller) => ({
    path: `${path}/${fixture[which].id}/verify`,
    body: { confirmCode: fixture[which].confirmCode, clientToken: who.clientToken },
  })
const ofPost =
  (rest = '', body?: object) =>
  ({ post }: AccountFixture) => ({ path: `/posts/${post.id}${rest}`, ...(body && { body }) })
const ofUser =
  (rest: string) =>
  ({ owner }: AccountFixture) => ({ path: `/users/${owner.id}${rest}` })
const at = (path: string, body?: object) => () => ({ path, ...(body && { body }) })

/** Every call of the contract. */
export const TABLE: Record<string, Row> = {
  'POST /registrations': { call: start('/registrations', newEmail), ...started },
  'POST /invitations/validation': {
    call: at('/invitations/validation', { invitation: 'guessed' }),
    ...anyone,
  },
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
  'DELETE /sessions': { call: at('/sessions'), ...done },
  'DELETE /sessions/current': { call: at('/sessions/current'), ...done },

  'GET /users/current': { call: at('/users/current'), ...signedIn },
  'PUT /users/current/email': {
    call: (_house, { clientToken }) => ({
      path: '/users/current/email',
      body: { email: newEmail(), clientToken },
    }),
    ...created,
  },
  'PUT /users/current/email/:id/verify': {
    call: verify('/users/current/email', 'change'),
    ...sealed,
    visitor: STRANGER,
  },
  'POST /users/current/deletion': {
    call: (_house, { clientToken }) => ({ path: '/users/current/deletion', body: { clientToken } }),
    ...created,
  },
  'POST /users/current/deletion/:id/verify': {
    call: verify('/users/current/deletion', 'deletion'),
    ...sealed,
    visitor: STRANGER,
  },
  'POST /users/current/downloads': { call: at('/users/current/downloads'), ...created },
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
  'POST /posts': { call: at('/posts', { text }), ...created },
  'PATCH /posts/:id': {
    call: ofPost('', { text }),
    owner: '200',
    other: '404 POST_NOT_FOUND',
    visitor: STRANGER,
  },
  'DELETE /posts/:id': { call: ofPost(), ...ofOwner },
  'GET /posts/search': { call: at('/posts/search?q=стена'), ...anyone },
  'GET /posts/replies': { call: at('/posts/replies'), ...signedIn },
  'GET /profiles/:username': {
    call: at('/profiles/no_such_author'),
    owner: '404 AUTHOR_NOT_FOUND',
    other: '404 AUTHOR_NOT_FOUND',
    visitor: '404 AUTHOR_NOT_FOUND',
  },
  'GET /posts/:id/replies': { call: ofPost('/replies'), ...anyone },
  'GET /posts/:id/ancestors': { call: ofPost('/ancestors'), ...anyone },
  'POST /posts/:id/replies': { call: ofPost('/replies', { text }), ...created },
  'POST /posts/:id/likes': { call: ofPost('/likes'), ...signedIn },
  'DELETE /posts/:id/likes': { call: ofPost('/likes'), ...signedIn },
  'GET /posts/replies/received': { call: at('/posts/replies/received'), ...signedIn },
  'GET /users/current/received': { call: at('/users/current/received'), ...signedIn },
  'PUT /users/current/received': { call: at('/users/current/received', { seen: 1 }), ...done },
  'PUT /users/current/reply-mails': {
    call: at('/users/current/reply-mails', { wantsMail: false }),
    ...done,
  },
  'GET /users/current/mutes': { call: at('/users/current/mutes'), ...signedIn },
  'PUT /users/:id/mute': { call: ofUser('/mute'), ...done, owner: '400 INVALID_REQUEST' },
  'DELETE /users/:id/mute': { call: ofUser('/mute'), ...done },
  'PUT /posts/:id/mute': { call: ofPost('/mute'), ...ofOwner },
  'DELETE /posts/:id/mute': { call: ofPost('/mute'), ...ofOwner },
  'GET /texts/:name': { call: at('/texts/about'), ...anyone },
  'GET /reports/reasons': { call: at('/reports/reasons'), ...anyone },
  'GET /users/current/reports': { call: at('/users/current/reports'), ...signedIn },
  'PUT /users/current/reports/seen': { call: at('/users/current/reports/seen'), ...done },
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

  'GET /moderation/queue': { call: at('/moderation/queue'), ...forModerators, moderator: '200' },
  'GET /moderation/posts/:id': {
    call: ({ post }) => ({ path: `/moderation/posts/${post.id}` }),
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
  'PUT /moderation/users/:id/block': {
    call: ({ owner }) => ({
      path: `/moderation/users/${owner.id}/block`,
      body: { reason: 'Спам', days: 1 },
    }),
    ...forModerators,
    moderator: '204',
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
