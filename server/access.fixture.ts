import { type AccountFixture, newEmail } from './testing/account-fixture.ts'
import { DEVICE } from './testing/client.ts'

/** The owner of the fixture, another user, or a visitor, who has no token. */
export type Caller = { token?: string; cookie?: string; clientToken: string }
type Sent = { path: string; body?: object; headers?: Record<string, string> }

/** A moderator's answer is given only if it differs from another user's. */
export type Row = {
  /** By default the path is that of the name, with the owner's post as its id, and no body. */
  call?: (fixture: AccountFixture, caller: Caller) => Sent
  body?: object
  owner: string
  other: string
  visitor: string
  moderator?: string
}

const STRANGER = '401 UNAUTHORIZED'
const body = { text: 'Переписано' }

const all = (answer: string) => ({ owner: answer, other: answer, visitor: answer })
const anyone = all('200')
const signedIn = { owner: '200', other: '200', visitor: STRANGER }
const created = { owner: '201', other: '201', visitor: STRANGER }
const done = { owner: '204', other: '204', visitor: STRANGER }
const ofOwner = { owner: '204', other: '404 POST_NOT_FOUND', visitor: STRANGER }
const notFound = { owner: '404 POST_NOT_FOUND', other: '404 POST_NOT_FOUND', visitor: STRANGER }
const ownName = { owner: '200', other: '400 USERNAME_ALREADY_EXISTS', visitor: STRANGER }
const sealed = { owner: '200', other: '400 OPERATION_EXPIRED', visitor: '400 OPERATION_EXPIRED' }
const sealedForUsers = { ...sealed, visitor: STRANGER }
const forModerators = all('404 NOT_FOUND')

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
const ofUser =
  (prefix: string, rest: string, body?: object) =>
  ({ owner }: AccountFixture) => ({ path: `${prefix}/${owner.id}${rest}`, ...(body && { body }) })
const at = (path: string) => () => ({ path })

/** Every call of the contract. */
export const TABLE: Record<string, Row> = {
  'POST /registrations': { call: start('/registrations', newEmail), ...all('201') },
  'POST /invitations/validation': { body: { invitation: 'guessed' }, ...anyone },
  'POST /registrations/:id/verify': { call: verify('/registrations', 'registration'), ...sealed },
  'POST /logins': { call: start('/logins', ({ owner }) => owner.email), ...all('201') },
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
  'GET /sessions': signedIn,
  'DELETE /sessions/:id': {
    call: ({ sessionId }) => ({ path: `/sessions/${sessionId}` }),
    owner: '204',
    other: '404 SESSION_NOT_FOUND',
    visitor: STRANGER,
  },
  'DELETE /sessions': done,
  'DELETE /sessions/current': done,

  'GET /users/current': signedIn,
  'PUT /users/current/email': {
    call: (_house, { clientToken }) => ({
      path: '/users/current/email',
      body: { email: newEmail(), clientToken },
    }),
    ...created,
  },
  'PUT /users/current/email/:id/verify': {
    call: verify('/users/current/email', 'change'),
    ...sealedForUsers,
  },
  'POST /users/current/deletion': {
    call: (_house, { clientToken }) => ({ path: '/users/current/deletion', body: { clientToken } }),
    ...created,
  },
  'POST /users/current/deletion/:id/verify': {
    call: verify('/users/current/deletion', 'deletion'),
    ...sealedForUsers,
  },
  'POST /users/current/downloads': created,
  // The mailed link is enough for every caller.
  'POST /email-changes/:id/undo': { body: { secret: 'guessed' }, ...all('400 LINK_EXPIRED') },
  'GET /users/:username/validation': {
    // One's own name is free only for oneself.
    call: ({ owner }) => ({ path: `/users/${owner.username}/validation` }),
    ...ownName,
  },
  'PATCH /users/current/profile': {
    call: ({ owner }) => ({ path: '/users/current/profile', body: { username: owner.username } }),
    ...ownName,
  },

  'GET /posts': anyone,
  'GET /posts/:id': anyone,
  'POST /posts': { body, ...created },
  'PATCH /posts/:id': { body, ...ofOwner, owner: '200' },
  'DELETE /posts/:id': ofOwner,
  'GET /posts/search': { call: at('/posts/search?q=стена'), ...anyone },
  'GET /posts/replies': signedIn,
  'GET /profiles/:username': {
    call: at('/profiles/no_such_author'),
    ...all('404 AUTHOR_NOT_FOUND'),
  },
  'GET /posts/:id/replies': anyone,
  'GET /posts/:id/ancestors': anyone,
  'POST /posts/:id/replies': { body, ...created },
  'POST /posts/:id/likes': signedIn,
  'DELETE /posts/:id/likes': signedIn,
  'GET /posts/replies/received': signedIn,
  'GET /users/current/received': signedIn,
  'PUT /users/current/received': { body: { seen: 1 }, ...done },
  'PUT /users/current/reply-mails': { body: { wantsMail: false }, ...done },
  'GET /users/current/mutes': signedIn,
  'PUT /users/:id/mute': { call: ofUser('/users', '/mute'), ...done, owner: '400 INVALID_REQUEST' },
  'DELETE /users/:id/mute': { call: ofUser('/users', '/mute'), ...done },
  'PUT /posts/:id/mute': ofOwner,
  'DELETE /posts/:id/mute': ofOwner,
  'GET /texts/:name': { call: at('/texts/about'), ...anyone },
  'GET /reports/reasons': anyone,
  'GET /users/current/reports': signedIn,
  'PUT /users/current/reports/seen': done,
  'GET /users/current/removed-posts': signedIn,
  // Removed posts of others answer as this one, which was not removed.
  'POST /users/current/removed-posts/:id/appeal': { body, ...notFound },

  'GET /moderation/queue': { ...forModerators, moderator: '200' },
  'GET /moderation/posts/:id': { ...forModerators, moderator: '200' },
  // Nobody has reported it.
  'POST /moderation/posts/:id/decision': {
    body: { verdict: 'remove' },
    ...forModerators,
    moderator: '404 POST_NOT_FOUND',
  },
  'PUT /moderation/users/:id/block': {
    call: ofUser('/moderation/users', '/block', { reason: 'Спам', days: 1 }),
    ...forModerators,
    moderator: '204',
  },
  'DELETE /moderation/users/:id/block': {
    call: ofUser('/moderation/users', '/block'),
    ...forModerators,
    moderator: '204',
  },
  'POST /posts/:id/reports': {
    call: ({ post }) => ({ path: `/posts/${post.id}/reports?reason_id=1` }),
    owner: '400 INVALID_REQUEST',
    other: '204',
    visitor: STRANGER,
  },
}
