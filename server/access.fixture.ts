import { SOMETHING } from '../contract/post.fixture.ts'
import { type AccountFixture, newEmail } from './testing/calls/account-fixture.ts'
import { DEVICE } from './testing/http/client.ts'

/** The owner of the fixture, another user, or a visitor, who has no token. */
export type Caller = { token?: string; cookie?: string; clientToken: string }

/** A moderator's answer is given only if it differs from another user's. */
export type Row = {
  /** What stands in the path in place of its parameter; by default the id of the owner's post. */
  id?: (fixture: AccountFixture) => string
  query?: string
  body?: (fixture: AccountFixture, caller: Caller) => object
  headers?: (fixture: AccountFixture, caller: Caller) => Record<string, string>
  owner: string
  other: string
  visitor: string
  moderator?: string
}

const STRANGER = '401 UNAUTHORIZED'

const all = (answer: string) => ({ owner: answer, other: answer, visitor: answer })
const anyone = all('200')
const signedIn = { owner: '200', other: '200', visitor: STRANGER }
const created = { owner: '201', other: '201', visitor: STRANGER }
const done = { owner: '204', other: '204', visitor: STRANGER }
const ofOwner = { owner: '204', other: '404 POST_NOT_FOUND', visitor: STRANGER }
const notFound = { owner: '404 POST_NOT_FOUND', other: '404 POST_NOT_FOUND', visitor: STRANGER }
const ownName = { owner: '200', other: '400 USERNAME_ALREADY_EXISTS', visitor: STRANGER }
const sealed = { owner: '200', other: '400 OPERATION_EXPIRED', visitor: '400 OPERATION_EXPIRED' }
const forModerators = all('404 NOT_FOUND')

const ofUser = { id: ({ owner }: AccountFixture) => owner.id }
const withPost = { body: () => SOMETHING }
const fromClient = {
  body: (_fixture: AccountFixture, { clientToken }: Caller) => ({ clientToken }),
}
const start = (emailOf: (fixture: AccountFixture) => string) => ({
  body: (fixture: AccountFixture, { clientToken }: Caller) => ({
    ...{ email: emailOf(fixture), clientToken, device: DEVICE },
  }),
})
const verify = (which: 'change' | 'deletion' | 'login' | 'registration') => ({
  ...sealed,
  id: (fixture: AccountFixture) => fixture[which].id,
  body: (fixture: AccountFixture, { clientToken }: Caller) => ({
    ...{ confirmCode: fixture[which].confirmCode, clientToken },
  }),
})

const SIGNED = { id: 'AA', clientDataJSON: 'AA' }
const ATTESTATION = { ...SIGNED, attestationObject: 'AA' }
const ASSERTION = { ...SIGNED, authenticatorData: 'AA', signature: 'AA' }

/** Every call of the contract. */
export const TABLE: Record<string, Row> = {
  'POST /registrations': { ...start(newEmail), ...all('201') },
  'POST /invitations/validation': { body: () => ({ invitation: 'guessed' }), ...anyone },
  'POST /registrations/:id/verify': verify('registration'),
  'POST /logins': { ...start(({ owner }) => owner.email), ...all('201') },
  'POST /logins/:id/verify': verify('login'),
  'POST /codes/:id/mail': { id: ({ login }) => login.id, ...fromClient, ...sealed },

  'PATCH /sessions/current': {
    ...fromClient,
    // A stolen cookie alone is of no use to another client.
    headers: ({ owner }, { cookie }) => (cookie ? { cookie: owner.cookie } : {}),
    ...{ owner: '200', other: STRANGER, visitor: STRANGER },
  },
  'GET /sessions': signedIn,
  'DELETE /sessions/:id': {
    id: ({ sessionId }) => sessionId,
    ...{ owner: '204', other: '404 SESSION_NOT_FOUND', visitor: STRANGER },
  },
  'DELETE /sessions': done,
  'DELETE /sessions/current': done,

  'GET /users/current/passkeys': signedIn,
  'POST /users/current/passkeys': created,
  'POST /users/current/passkeys/:id/verify': {
    ...{ id: () => 'unknown', body: () => ATTESTATION },
    ...{ owner: '400 OPERATION_EXPIRED', other: '400 OPERATION_EXPIRED', visitor: STRANGER },
  },
  'PATCH /users/current/passkeys/:id': {
    ...{ id: ({ passkeyId }) => passkeyId, body: () => ({ name: 'Другое название' }) },
    ...{ owner: '200', other: '404 PASSKEY_NOT_FOUND', visitor: STRANGER },
  },
  'DELETE /users/current/passkeys/:id': {
    id: ({ passkeyId }) => passkeyId,
    ...{ owner: '204', other: '404 PASSKEY_NOT_FOUND', visitor: STRANGER },
  },
  'POST /passkey-logins': {
    body: (_fixture, { clientToken }) => ({ clientToken, device: DEVICE }),
    ...all('201'),
  },
  'POST /passkey-logins/:id/verify': {
    id: () => 'unknown',
    body: (_fixture, { clientToken }) => ({ assertion: ASSERTION, clientToken }),
    ...all('400 OPERATION_EXPIRED'),
  },

  'GET /users/current': signedIn,
  'PUT /users/current/email': {
    body: (_fixture, { clientToken }) => ({ email: newEmail(), clientToken }),
    ...created,
  },
  'PUT /users/current/email/:id/verify': { ...verify('change'), visitor: STRANGER },
  'POST /users/current/deletion': { ...fromClient, ...created },
  'POST /users/current/deletion/:id/verify': { ...verify('deletion'), visitor: STRANGER },
  'POST /users/current/downloads': created,
  // The mailed link is enough for every caller.
  'POST /email-changes/:id/undo': {
    body: () => ({ secret: 'guessed' }),
    ...all('400 LINK_EXPIRED'),
  },
  // One's own name is free only for oneself.
  'GET /users/:username/validation': { id: ({ owner }) => owner.username, ...ownName },
  'PATCH /users/current/profile': {
    body: ({ owner: { username } }) => ({ username }),
    ...ownName,
  },

  'GET /posts': anyone,
  'GET /posts/:id': anyone,
  'POST /posts': { ...withPost, ...created },
  'PATCH /posts/:id': { ...withPost, ...ofOwner, owner: '200' },
  'DELETE /posts/:id': ofOwner,
  // The post can still be edited.
  'POST /posts/:id/clarification': { ...withPost, ...ofOwner, owner: '400 INVALID_REQUEST' },
  'DELETE /posts/:id/clarification': { ...ofOwner, owner: '200' },
  'GET /posts/search': { query: '?q=стена', ...anyone },
  'GET /posts/replies': signedIn,
  'GET /profiles/:username': { id: () => 'no_such_author', ...all('404 NOT_FOUND') },
  'GET /posts/:id/replies': anyone,
  'GET /posts/:id/ancestors': anyone,
  'POST /posts/:id/replies': { ...withPost, ...created },
  'POST /posts/:id/likes': signedIn,
  'DELETE /posts/:id/likes': signedIn,
  'GET /posts/replies/received': signedIn,
  'GET /users/current/received': signedIn,
  'PUT /users/current/received': { body: () => ({ seen: 1 }), ...done },
  'PUT /users/current/reply-mails': { body: () => ({ wantsMail: false }), ...done },
  'GET /users/current/mutes': signedIn,
  'GET /users/suggestions': { query: '?start=ab', ...signedIn },
  'PUT /users/:id/mute': { ...ofUser, ...done, owner: '400 INVALID_REQUEST' },
  'DELETE /users/:id/mute': { ...ofUser, ...done, owner: '400 INVALID_REQUEST' },
  'PUT /posts/:id/muted': ofOwner,
  'DELETE /posts/:id/muted': ofOwner,
  'GET /texts/:name': { id: () => 'about', ...anyone },
  'GET /reports/reasons': anyone,
  'GET /users/current/reports': signedIn,
  'PUT /users/current/reports/seen': done,
  'GET /users/current/removed-posts': signedIn,
  // Removed posts of others answer as this one, which was not removed.
  'POST /users/current/removed-posts/:id/appeal': { body: () => ({ text: 'Зря' }), ...notFound },

  'GET /moderation/queue': { ...forModerators, moderator: '200' },
  'GET /moderation/state': { ...forModerators, moderator: '200' },
  'GET /moderation/posts/:id': { ...forModerators, moderator: '200' },
  // Nobody has reported it.
  'POST /moderation/posts/:id/decision': {
    body: () => ({ verdict: 'remove' }),
    ...{ ...forModerators, moderator: '404 POST_NOT_FOUND' },
  },
  'PUT /moderation/users/:id/block': {
    ...{ ...ofUser, body: () => ({ reason: 'Спам', days: 1 }) },
    ...{ ...forModerators, moderator: '204' },
  },
  'DELETE /moderation/users/:id/block': { ...ofUser, ...forModerators, moderator: '204' },
  'POST /posts/:id/reports': {
    query: '?reason_id=1',
    ...{ owner: '400 INVALID_REQUEST', other: '204', visitor: STRANGER },
  },
}

/** Returns a call of the table: its method, its path, and what is sent with it. */
export function callOf(name: string, fixture: AccountFixture, caller: Caller = fixture.owner) {
  const row = TABLE[name]
  const [method = '', path = ''] = name.split(' ')
  const id = row?.id?.(fixture) ?? fixture.post.id
  const sent = {
    token: caller.token,
    body: row?.body?.(fixture, caller),
    headers: row?.headers?.(fixture, caller) ?? {},
  }
  return [method, path.replace(/:\w+/, id) + (row?.query ?? ''), sent] as const
}
