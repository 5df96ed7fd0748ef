import { eraseNow } from '../../server/features/account-deletion/account-deletion.service.ts'
import { finishTransitions } from '../../server/features/account-deletion/account-transitions.service.ts'
import { answerJobs } from '../../server/features/answers/answers.mail.ts'
import { purgePosts } from '../../server/features/likes/likes.service.ts'
import { decide as decideAny } from '../../server/features/moderation/decisions.service.ts'
import { purgeExpiredPosts, reviewHidden } from '../../server/features/moderation/hiding.service.ts'
import { tellModerators } from '../../server/features/moderation/moderation.service.ts'
import { removeModerator } from '../../server/features/moderation/moderators.repository.ts'
import { closeSite } from '../../server/features/site-state/site-state.service.ts'
import { Authenticator } from '../../server/testing/authenticator.ts'
import { leave } from '../../server/testing/calls/account-deletion-calls.ts'
import {
  changeEmail,
  startChange,
  undoChange,
  verifyChange,
} from '../../server/testing/calls/email-change-calls.ts'
import { decide, report } from '../../server/testing/calls/moderation-calls.ts'
import {
  addPasskey,
  newestUndo,
  removePasskey,
  startPasskey,
  startPasskeyLogin,
  verifyPasskey,
  verifyPasskeyLogin,
} from '../../server/testing/calls/passkey-calls.ts'
import { startAt, verifyAt, wrongCode } from '../../server/testing/calls/sign-in-calls.ts'
import { browserOf, type TestUser } from '../../server/testing/http/client.ts'
import { allEndpoints } from '../../server/testing/http/endpoints.ts'
import type { TestApp } from '../../server/testing/test-app.ts'
import {
  type Act,
  after,
  type Call,
  inTransaction,
  listedCall,
  PHONE,
  SENT,
  send,
  type World,
  type Write,
  within,
} from './world.ts'

const NEW_EMAIL = 'new@example.org'

type Person = 'olga' | 'petr'
type Prepare = NonNullable<Write['prepare']>
type Calls = Record<string, Call | [Call, Prepare]>

/** These have several transactions by design. */
const IN_STEPS = /^(?:erase|hide the left account|block and remove|review hidden posts|purge)/

const writesOf = (calls: Calls): Write[] =>
  Object.entries(calls).map(([name, one]) => {
    const [call, prepare] = [one].flat() as [Call, Prepare?]
    return { name, call, prepare, isInSteps: IN_STEPS.test(name) }
  })

const text = (words: string) => (side: Act['side']) => ({ text: `${words} ${side}` })

const LIKE = send('petr', 'POST /posts/:post/likes')
const CLARIFY: [Call, Prepare] = [
  send('olga', 'POST /posts/:post/clarification', text('Уточнение')),
  (app, { post }) =>
    app.sql`UPDATE posts SET created_at = created_at - interval '2 days' WHERE id = ${post.id}`,
]
const MUTE = send('olga', 'PUT /posts/:post/muted')
const MUTE_PERSON = send('petr', 'PUT /users/:olga/mute')
const APPEAL = send('olga', 'POST /users/current/removed-posts/:post/appeal')
const REFUSAL = { reason: 'Спам', days: 7 }

const reported = (app: TestApp, { boris, post }: World) => report(app, boris, { postId: post.id })
const removed = async (app: TestApp, world: World) => {
  await reported(app, world)
  await decide(app, world.moderator, { postId: world.post.id, verdict: 'remove' })
}
const appealed = async (app: TestApp, world: World) => {
  await removed(app, world)
  await after(APPEAL)(app, world)
}
const left = (who: Person) => (app: TestApp, world: World) => leave(app, world[who])

const publishChange = async () => {}
const TRANSITION_OPTIONS = { nameKey: Buffer.alloc(32), mayErase: async () => false, publishChange }

const idOf = (answer: { body?: { id?: string } }) => answer.body?.id
const clarified = async (app: TestApp, world: World) => {
  await CLARIFY[1](app, world)
  return (await after(CLARIFY[0])(app, world)) as { body: { id: string } }
}
const login = async (app: TestApp, { email }: TestUser) =>
  idOf(await startAt(app, '/logins', { email }))

/** What may happen to a person's account. The person leaves from another device than acts. */
const departures = (who: Person) => {
  const leaver = (world: World) => world[who === 'olga' ? 'phone' : who]
  return {
    leave: [
      ({ app, world, id }) => {
        const { token, clientToken } = leaver(world)
        const body = { confirmCode: app.codeFor(id), clientToken }
        return app.call('POST', `/users/current/deletion/${id}/verify`, { token, body })
      },
      async (app, world) => {
        const { token, clientToken } = leaver(world)
        const body = { clientToken }
        return idOf(await app.call('POST', '/users/current/deletion', { token, body }))
      },
    ],
    block: send('moderator', `PUT /moderation/users/:${who}/block`, REFUSAL),
    erase: within(({ app, world }) =>
      eraseNow(app.db, { userId: world[who].id, actor: 'operator', ...TRANSITION_OPTIONS }),
    ),
    'hide the left account': [
      within(({ app }) => finishTransitions(app.db, TRANSITION_OPTIONS)),
      left(who),
    ],
    return: [
      ({ app, id }) => verifyAt(app, '/logins', { id, restore: true }),
      async (app, world) => {
        await left(who)(app, world)
        await finishTransitions(app.db, TRANSITION_OPTIONS)
        return login(app, world[who])
      },
    ],
  } satisfies Calls
}

const OLGA = departures('olga')

const changeOf = (who: Person): [Call, Prepare] => [
  ({ app, world, id }) => verifyChange(app, world[who], id),
  async (app, world) => idOf(await startChange(app, world[who], NEW_EMAIL)),
]

const registration = (clientToken: string): [Call, Prepare] => [
  ({ app, id }) => verifyAt(app, '/registrations', { id, code: app.codeFor(id), clientToken }),
  async (app) => idOf(await startAt(app, '/registrations', { email: NEW_EMAIL, clientToken })),
]

const decideBy = (who: 'moderator' | 'second', verdict: object) =>
  send(who, 'POST /moderation/posts/:post/decision', verdict)

/** The calls that the rows below make by other means than `send`, or that write no shared rows. */
const OTHERWISE = [
  ...['POST /registrations', 'POST /registrations/:id/verify', 'POST /invitations/validation'],
  ...['POST /logins', 'POST /logins/:id/verify', 'POST /codes/:id/mail', 'PATCH /sessions/current'],
  ...['PUT /users/current/email', 'PUT /users/current/email/:id/verify'],
  ...['POST /email-changes/:id/undo', 'POST /users/current/deletion/:id/verify'],
  'POST /users/current/downloads',
  ...['POST /users/current/passkeys', 'POST /users/current/passkeys/:id/verify'],
  ...['POST /passkey-logins', 'POST /passkey-logins/:id/verify'],
]

/**
 * Writes on the same rows. Those that change less are prepared first, so that most calls of a pair
 * find what they need.
 */
const LISTED: Calls = {
  publish: send('olga', 'POST /posts', text('Запись')),
  'publish with a key': ({ app, world }) =>
    app.call('POST', '/posts', {
      token: world.olga.token,
      headers: { 'idempotency-key': 'one' },
      body: { text: 'Запись с ключом' },
    }),
  reply: send('petr', 'POST /posts/:post/replies', text('Ответ')),
  'reply to the reply': send('olga', 'POST /posts/:reply/replies', text('Ответ на ответ')),
  edit: send('olga', 'PATCH /posts/:post', text('Иначе')),
  clarify: CLARIFY,
  'take the clarification away': [send('olga', 'DELETE /posts/:post/clarification'), clarified],
  'delete the clarification': [
    send('olga', 'DELETE /posts/:id'),
    async (app, world) => idOf(await clarified(app, world)),
  ],
  mention: ({ app, world: { olga, petr, boris } }) =>
    app.call('POST', '/posts', {
      token: olga.token,
      body: { text: `@${boris.username} @${petr.username}` },
    }),
  'reply and mention': ({ app, world: { olga, petr, boris, post } }) =>
    app.call('POST', `/posts/${post.id}/replies`, {
      token: petr.token,
      body: { text: `@${olga.username} @${boris.username}` },
    }),
  'mention by an edit': ({ app, world: { olga, petr, boris, post } }) =>
    app.call('PATCH', `/posts/${post.id}`, {
      token: olga.token,
      body: { text: `@${petr.username} @${boris.username}` },
    }),
  like: LIKE,
  unlike: [send('petr', 'DELETE /posts/:post/likes'), after(LIKE)],
  'mute the post': MUTE,
  'unmute the post': [send('olga', 'DELETE /posts/:post/muted'), after(MUTE)],
  'mute a person': MUTE_PERSON,
  'mute a person for a week': send('petr', 'PUT /users/:olga/mute?days=7'),
  'unmute a person': [send('petr', 'DELETE /users/:olga/mute'), after(MUTE_PERSON)],
  'mark as read': send('olga', 'PUT /users/current/received', { seen: 9 }),
  'stop reply mails': send('olga', 'PUT /users/current/reply-mails'),
  'queue reply mails': [
    within(
      ({ app }) => answerJobs(app.db)['mail-replies']?.run({} as never, undefined) as Promise<void>,
    ),
    (app) =>
      app.sql`UPDATE posts SET created_at = created_at - interval '2 days'
        WHERE received_no IS NOT NULL`,
  ],
  rename: send('olga', 'PATCH /users/current/profile', { username: 'new_name' }),
  refresh: ({ app, world }) =>
    app.call('PATCH', '/sessions/current', {
      headers: { cookie: world.phone.cookie },
      body: { clientToken: PHONE },
    }),
  'close a session': [
    send('olga', 'DELETE /sessions/:id'),
    async (app, { olga }) =>
      (await app.call('GET', '/sessions', { token: olga.token })).body.sessions[1]?.id,
  ],
  'close other sessions': send('olga', 'DELETE /sessions'),
  'sign out': send('phone', 'DELETE /sessions/current'),
  'start a sign-in': ({ app, world }) =>
    startAt(app, '/logins', { email: world.olga.email, clientToken: 'other' }),
  'sign in': [
    ({ app, id }) => verifyAt(app, '/logins', { id, code: app.codeFor(id) }),
    (app, { olga }) => login(app, olga),
  ],
  'guess a code': [
    ({ app, id }) => verifyAt(app, '/logins', { id, code: wrongCode(app.codeFor(id)) }),
    (app, { olga }) => login(app, olga),
  ],
  register: registration('one browser'),
  'start a change of e-mail': ({ app, world }) => startChange(app, world.olga, 'third@example.org'),
  'change the e-mail': changeOf('olga'),
  'start a passkey': ({ app, world }) => startPasskey(app, world.olga),
  'add a passkey': [
    ({ app, world, id }) => {
      const { operation, created } = JSON.parse(id)
      return verifyPasskey(app, world.olga, operation, created)
    },
    async (app, { olga }) => {
      const { id: operation, options } = (await startPasskey(app, olga)).body
      return JSON.stringify({ operation, created: new Authenticator().create(options, app.origin) })
    },
  ],
  'rename a passkey': send('olga', 'PATCH /users/current/passkeys/:passkey'),
  'start a sign-in with a passkey': ({ app }) => startPasskeyLogin(app),
  'sign in with a passkey': [
    ({ app, id }) => verifyPasskeyLogin(app, JSON.parse(id)),
    async (app, { olga }) => {
      const key = new Authenticator()
      await addPasskey(app, olga, key)
      const started = await startPasskeyLogin(app)
      const assertion = key.get(started.body.options, app.origin)
      return JSON.stringify({ id: started.body.id, assertion, browser: browserOf(started) })
    },
  ],
  'remove a passkey': send('olga', 'DELETE /users/current/passkeys/:passkey'),
  'undo the removal of a passkey': [
    ({ app, id }) => undoChange(app, JSON.parse(id)),
    async (app, { olga, passkey }) => {
      await removePasskey(app, olga, passkey.id)
      return JSON.stringify(await newestUndo(app, olga))
    },
  ],
  'start leaving': send('phone', 'POST /users/current/deletion'),
  report: [send('petr', 'POST /posts/:post/reports?reason_id=1'), reported],
  'tell moderators': [inTransaction((tx) => tellModerators(tx, ['chief@example.org'])), reported],
  remove: [decideBy('moderator', { verdict: 'remove' }), reported],
  keep: [decideBy('moderator', { verdict: 'keep' }), reported],
  'remove and block': [decideBy('moderator', { verdict: 'remove', block: { days: 7 } }), reported],
  leave: OLGA.leave,
  'delete the reply': send('petr', 'DELETE /posts/:reply'),
  delete: send('olga', 'DELETE /posts/:post'),
  block: OLGA.block,
  'block and remove': send('moderator', 'PUT /moderation/users/:olga/block', {
    ...REFUSAL,
    removesRecent: true,
  }),
  'close writing': inTransaction((tx) =>
    closeSite(tx, { part: 'writing', reason: 'Ремонт', actor: 'operator' }),
  ),
  'dismiss the moderator': inTransaction((tx, { world }) =>
    removeModerator(tx, { email: world.moderator.email, actor: 'operator' }),
  ),
  erase: OLGA.erase,
  'undo the change of e-mail': [
    ({ app, id }) => undoChange(app, { id, secret: app.undoSecretFor(id) }),
    async (app, { olga }) => (await changeEmail(app, olga, 'interim@example.org')).id,
  ],
  'review hidden posts': [
    within(({ app }) => reviewHidden(app.db, { reportsToHide: 3, publishChange })),
    async (app, world) => {
      await reported(app, world)
      await report(app, world.petr, { postId: world.post.id })
    },
  ],
  appeal: [APPEAL, removed],
  'grant the appeal': [decideBy('moderator', { verdict: 'keep' }), appealed],
  restore: [
    inTransaction((tx, { world }) => {
      const about = { postId: world.post.id, verdict: 'keep', isAnyPost: true } as const
      return decideAny(tx, { ...about, actor: 'operator', removedDays: 30 })
    }),
    removed,
  ],
  purge: [
    within(async ({ app }) => {
      await purgeExpiredPosts(app.db)
      await purgePosts(app.db)
    }),
    async (app, world) => {
      await removed(app, world)
      await app.sql`UPDATE posts SET hidden_until = 'epoch' WHERE hidden_for IS NOT NULL`
    },
  ],
  'mark reports as seen': [
    send('boris', 'PUT /users/current/reports/seen'),
    async (app, world) => {
      await removed(app, world)
      await app.sql`UPDATE reports SET decided_at = 'epoch'`
    },
  ],
  unblock: [send('moderator', 'DELETE /moderation/users/:olga/block'), after(OLGA.block)],
  'hide the left account': OLGA['hide the left account'],
  return: OLGA.return,
}

const REST = [...(await allEndpoints()).keys()].filter(
  (name) => !name.startsWith('GET') && !SENT.has(name) && !OTHERWISE.includes(name),
)
const asListed = (name: string): [string, Call] => [
  name,
  ({ app, world }) => app.call(...listedCall(name, world)),
]
export const WRITES = writesOf({ ...LISTED, ...Object.fromEntries(REST.map(asListed)) })

/** The same by others, and what may happen to the account of a person who writes on these rows. */
const BY_OTHERS: [names: RegExp, others: Calls][] = [
  [/^reply$/, { 'reply of another': send('anna', 'POST /posts/:post/replies', text('И я')) }],
  [/^(?:un)?like$/, { 'like of another': send('boris', 'POST /posts/:post/likes') }],
  [/^report$/, { 'report of another': send('anna', 'POST /posts/:post/reports?reason_id=1') }],
  [
    /^rename$/,
    { 'rename of another': send('petr', 'PATCH /users/current/profile', { username: 'New_Name' }) },
  ],
  [/^(?:register|change the e-mail)$/, { 'change of another to it': changeOf('petr') }],
  [/^register$/, { 'register in another browser': registration('another browser') }],
  [
    /^(?:remove|keep|remove and block)$/,
    {
      'keep by another': [decideBy('second', { verdict: 'keep' }), reported],
      'remove by another': [decideBy('second', { verdict: 'remove' }), reported],
    },
  ],
  [
    /^(?:reply|(?:un)?like|report|mute a person|delete the reply|mark as read|refresh)$/,
    Object.fromEntries(
      Object.entries(departures('petr')).map(([name, calls]) => [`${name} of Petr`, calls]),
    ),
  ],
]

export type Pair = { name: string; writes: [first: Write, second: Write] }

const pairOf = (first: Write, second: Write): Pair => ({
  name: `${first.name} × ${second.name}`,
  writes: [first, second],
})

export const PAIRS: Pair[] = [
  ...WRITES.flatMap((first, at) => WRITES.slice(at).map((second) => pairOf(first, second))),
  ...BY_OTHERS.flatMap(([names, others]) =>
    WRITES.filter(({ name }) => names.test(name)).flatMap((first) =>
      writesOf(others).map((second) => pairOf(first, second)),
    ),
  ),
]
