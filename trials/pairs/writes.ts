import { sql } from 'kysely'
import { eraseNow } from '../../server/features/account-deletion/account-deletion.service.ts'
import { moveAccounts } from '../../server/features/account-deletion/move-accounts.task.ts'
import { answerJobs } from '../../server/features/answers/answers.mail.ts'
import { moveLikes } from '../../server/features/likes/likes.service.ts'
import { decide as decideAny } from '../../server/features/moderation/decisions.service.ts'
import { purgeExpiredPosts, reviewHidden } from '../../server/features/moderation/hiding.service.ts'
import { tellModerators } from '../../server/features/moderation/moderation.service.ts'
import { removeModerator } from '../../server/features/moderation/moderators.repository.ts'
import { closeSite } from '../../server/features/site-state/site-state.service.ts'
import { leave } from '../../server/testing/calls/account-deletion-calls.ts'
import { startChange, verifyChange } from '../../server/testing/calls/email-change-calls.ts'
import { decide, report } from '../../server/testing/calls/moderation-calls.ts'
import { startAt, verifyAt, wrongCode } from '../../server/testing/calls/sign-in-calls.ts'
import type { TestUser } from '../../server/testing/http/client.ts'
import type { TestApp } from '../../server/testing/test-app.ts'
import {
  type Act,
  after,
  inTransaction,
  PHONE,
  send,
  type World,
  type Write,
  within,
} from './world.ts'

const NEW_EMAIL = 'new@example.org'

type Person = 'olga' | 'petr'

/** These have several transactions by design. */
const IN_STEPS = /^(?:erase|move the left account|block and remove|review hidden posts|purge)/

const write = (name: string, call: Write['call'], prepare?: Write['prepare']): Write => {
  return { name, call, prepare, isInSteps: IN_STEPS.test(name) }
}
const text = (words: string) => (side: Act['side']) => ({ text: `${words} ${side}` })

const LIKE = send('petr', 'POST /posts/:post/likes')
const MUTE = send('olga', 'PUT /posts/:post/mute')
const MUTE_PERSON = send('petr', 'PUT /users/:olga/mute')
const APPEAL = send('olga', 'POST /users/current/removed-posts/:post/appeal', {
  text: 'Это не спам',
})
const REFUSAL = { reason: 'Спам', days: 7 }
const block = (who: Person) => send('moderator', `PUT /moderation/users/:${who}/block`, REFUSAL)

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
const MOVING = { nameKey: Buffer.alloc(32), mayErase: async () => false, publishChange }

const idOf = (answer: { body?: { id?: string } }) => answer.body?.id
const login = async (app: TestApp, { email }: TestUser) =>
  idOf(await startAt(app, '/logins', { email }))

/** What may happen to a person's account. The person leaves from another device than acts. */
const departures = (who: Person, whose: string): [Write, Write, Write, Write, Write] => {
  const leaver = (world: World) => world[who === 'olga' ? 'phone' : who]
  return [
    write(
      `leave${whose}`,
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
    ),
    write(`block${whose}`, block(who)),
    write(
      `erase${whose}`,
      within(({ app, world }) =>
        eraseNow(app.db, { userId: world[who].id, actor: 'operator', ...MOVING }),
      ),
    ),
    write(
      `move the left account${whose}`,
      within(({ app }) => moveAccounts(app.db, MOVING)),
      left(who),
    ),
    write(
      `return${whose}`,
      ({ app, id }) =>
        app.call('POST', `/logins/${id}/verify`, {
          body: { confirmCode: app.codeFor(id), clientToken: 'one browser', restore: true },
        }),
      async (app, world) => {
        await left(who)(app, world)
        await moveAccounts(app.db, MOVING)
        return login(app, world[who])
      },
    ),
  ]
}

const [leaving, blocking, erasing, moving, returning] = departures('olga', '')

const changeOf = (name: string, who: Person) =>
  write(
    name,
    ({ app, world, id }) => verifyChange(app, world[who], id),
    async (app, world) => idOf(await startChange(app, world[who], NEW_EMAIL)),
  )

const registration = (name: string, clientToken: string) =>
  write(
    name,
    ({ app, id }) => verifyAt(app, '/registrations', { id, code: app.codeFor(id), clientToken }),
    async (app) => idOf(await startAt(app, '/registrations', { email: NEW_EMAIL, clientToken })),
  )

const decision = (name: string, who: 'moderator' | 'second', verdict: object) =>
  write(name, send(who, 'POST /moderation/posts/:post/decision', verdict), reported)

/**
 * Writes on the same rows. Those that change less are prepared first, so that most calls of a pair
 * find what they need.
 */
const WRITES: Write[] = [
  write('publish', send('olga', 'POST /posts', text('Запись'))),
  write('publish with a key', ({ app, world }) =>
    app.call('POST', '/posts', {
      token: world.olga.token,
      headers: { 'idempotency-key': 'one' },
      body: { text: 'Запись с ключом' },
    }),
  ),
  write('reply', send('petr', 'POST /posts/:post/replies', text('Ответ'))),
  write('reply to the reply', send('olga', 'POST /posts/:reply/replies', text('Ответ на ответ'))),
  write('edit', send('olga', 'PATCH /posts/:post', text('Иначе'))),
  write('like', LIKE),
  write('unlike', send('petr', 'DELETE /posts/:post/likes'), after(LIKE)),
  write('mute the post', MUTE),
  write('unmute the post', send('olga', 'DELETE /posts/:post/mute'), after(MUTE)),
  write('mute a person', MUTE_PERSON),
  write('unmute a person', send('petr', 'DELETE /users/:olga/mute'), after(MUTE_PERSON)),
  write('mark as read', send('olga', 'PUT /users/current/received', { seen: 9 })),
  write('stop reply mails', send('olga', 'PUT /users/current/reply-mails', { wantsMail: false })),
  write(
    'queue reply mails',
    within(({ app }) => answerJobs(app.db)['mail-replies']?.run({}, {} as never) as Promise<void>),
    (app) =>
      sql`UPDATE posts SET created_at = created_at - interval '2 days'
        WHERE received_no IS NOT NULL`.execute(app.db),
  ),
  write('rename', send('olga', 'PATCH /users/current/profile', { username: 'new_name' })),
  write('refresh', ({ app, world }) =>
    app.call('PATCH', '/sessions/current', {
      headers: { cookie: world.phone.cookie },
      body: { clientToken: PHONE },
    }),
  ),
  write(
    'close a session',
    send('olga', 'DELETE /sessions/:id'),
    async (app, { olga }) =>
      (await app.call('GET', '/sessions', { token: olga.token })).body.sessions[1]?.id,
  ),
  write('close other sessions', send('olga', 'DELETE /sessions')),
  write('sign out', send('phone', 'DELETE /sessions/current')),
  write('start a sign-in', ({ app, world }) =>
    startAt(app, '/logins', { email: world.olga.email, clientToken: 'other' }),
  ),
  write(
    'sign in',
    ({ app, id }) => verifyAt(app, '/logins', { id, code: app.codeFor(id) }),
    (app, { olga }) => login(app, olga),
  ),
  write(
    'guess a code',
    ({ app, id }) => verifyAt(app, '/logins', { id, code: wrongCode(app.codeFor(id)) }),
    (app, { olga }) => login(app, olga),
  ),
  registration('register', 'one browser'),
  write('start a change of e-mail', ({ app, world }) =>
    startChange(app, world.olga, 'third@example.org'),
  ),
  changeOf('change the e-mail', 'olga'),
  write('start leaving', send('phone', 'POST /users/current/deletion', { clientToken: PHONE })),
  write('report', send('petr', 'POST /posts/:post/reports?reason_id=1'), reported),
  write(
    'tell moderators',
    inTransaction((tx) => tellModerators(tx, ['chief@example.org'])),
    reported,
  ),
  decision('remove', 'moderator', { verdict: 'remove' }),
  decision('keep', 'moderator', { verdict: 'keep' }),
  decision('remove and block', 'moderator', { verdict: 'remove', block: { days: 7 } }),
  leaving,
  write('delete the reply', send('petr', 'DELETE /posts/:reply')),
  write('delete', send('olga', 'DELETE /posts/:post')),
  blocking,
  write(
    'block and remove',
    send('moderator', 'PUT /moderation/users/:olga/block', { ...REFUSAL, removesRecent: true }),
  ),
  write(
    'close writing',
    inTransaction((tx) => closeSite(tx, { part: 'writing', reason: 'Ремонт', actor: 'operator' })),
  ),
  write(
    'dismiss the moderator',
    inTransaction((tx, { world }) =>
      removeModerator(tx, { email: world.moderator.email, actor: 'operator' }),
    ),
  ),
  erasing,
  write(
    'undo the change of e-mail',
    ({ app, id }) =>
      app.call('POST', `/email-changes/${id}/undo`, { body: { secret: app.undoSecretFor(id) } }),
    async (app, { olga }) => {
      const { body } = await startChange(app, olga, 'interim@example.org')
      await verifyChange(app, olga, body.id)
      const change = app.db.selectFrom('email_changes').select('id')
      return (await change.executeTakeFirst())?.id
    },
  ),
  write(
    'review hidden posts',
    within(({ app }) => reviewHidden(app.db, { reportsToHide: 3, publishChange })),
    async (app, world) => {
      await reported(app, world)
      await report(app, world.petr, { postId: world.post.id })
    },
  ),
  write('appeal', APPEAL, removed),
  {
    ...decision('grant the appeal', 'moderator', { verdict: 'keep' }),
    prepare: appealed,
  },
  write(
    'restore',
    inTransaction((tx, { world }) => {
      const about = { postId: world.post.id, verdict: 'keep', isAnyPost: true } as const
      return decideAny(tx, { ...about, actor: 'operator', removedDays: 30 })
    }),
    removed,
  ),
  write(
    'purge',
    within(async ({ app }) => {
      await purgeExpiredPosts(app.db)
      await moveLikes(app.db)
    }),
    async (app, world) => {
      await removed(app, world)
      await sql`UPDATE posts SET hidden_until = 'epoch' WHERE hidden_for IS NOT NULL`.execute(
        app.db,
      )
    },
  ),
  write(
    'mark reports as seen',
    send('boris', 'PUT /users/current/reports/seen'),
    async (app, world) => {
      await removed(app, world)
      await sql`UPDATE reports SET decided_at = 'epoch'`.execute(app.db)
    },
  ),
  write('unblock', send('moderator', 'DELETE /moderation/users/:olga/block'), after(block('olga'))),
  moving,
  returning,
]

/** The same by others, and what may happen to the account of a person who writes on these rows. */
const BY_OTHERS: [names: string[], others: Write[]][] = [
  [['reply'], [write('reply of another', send('anna', 'POST /posts/:post/replies', text('И я')))]],
  [['like', 'unlike'], [write('like of another', send('boris', 'POST /posts/:post/likes'))]],
  [['report'], [write('report of another', send('anna', 'POST /posts/:post/reports?reason_id=1'))]],
  [
    ['rename'],
    [
      write(
        'rename of another',
        send('petr', 'PATCH /users/current/profile', { username: 'New_Name' }),
      ),
    ],
  ],
  [['register', 'change the e-mail'], [changeOf('change of another to it', 'petr')]],
  [['register'], [registration('register in another browser', 'another browser')]],
  [
    ['remove', 'keep', 'remove and block'],
    [
      decision('keep by another', 'second', { verdict: 'keep' }),
      decision('remove by another', 'second', { verdict: 'remove' }),
    ],
  ],
  [
    'reply, like, unlike, report, mute a person, delete the reply, mark as read, refresh'.split(
      ', ',
    ),
    departures('petr', ' of Petr'),
  ],
]

export type Pair = {
  name: string
  writes: [first: Write, second: Write]
  /** Whether no node knows the sessions of Olga and Petr, so that publishing checks them itself. */
  isUnknown?: true
}

const pairOf = (first: Write, second: Write): Pair => ({
  name: `${first.name} × ${second.name}`,
  writes: [first, second],
})

const IN_KNOWN_SESSIONS = [
  // Every write with itself and with each later one.
  ...WRITES.flatMap((first, at) => WRITES.slice(at).map((second) => pairOf(first, second))),
  ...BY_OTHERS.flatMap(([names, others]) =>
    WRITES.filter(({ name }) => names.includes(name)).flatMap((first) =>
      others.map((second) => pairOf(first, second)),
    ),
  ),
]

export const PAIRS: Pair[] = [
  ...IN_KNOWN_SESSIONS,
  ...IN_KNOWN_SESSIONS.filter(({ writes }) =>
    writes.some(({ name }) => name === 'publish' || name === 'reply'),
  ).map(({ name, writes }): Pair => {
    return { name: `${name}, in unknown sessions`, writes, isUnknown: true }
  }),
]
