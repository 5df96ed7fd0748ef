import { sql } from 'kysely'
import { eraseNow } from '../../server/features/account-deletion/account-deletion.service.ts'
import { moveAccounts } from '../../server/features/account-deletion/move-accounts.task.ts'
import { answerJobs } from '../../server/features/answers/answers.task.ts'
import { moveLikes } from '../../server/features/likes/likes.service.ts'
import { decide as decideAny } from '../../server/features/moderation/decisions.service.ts'
import {
  createHidingReview,
  purgeExpiredPosts,
} from '../../server/features/moderation/hiding.service.ts'
import {
  removeModerator,
  tellModerators,
} from '../../server/features/moderation/moderation.service.ts'
import { closeSite } from '../../server/features/site-state/site-state.service.ts'
import { leave } from '../../server/testing/account-deletion-calls.ts'
import type { TestUser } from '../../server/testing/client.ts'
import { startChange, verifyChange } from '../../server/testing/email-change-calls.ts'
import { decide, report } from '../../server/testing/moderation-calls.ts'
import { startAt, verifyAt, wrongCode } from '../../server/testing/sign-in-calls.ts'
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

const ofPost =
  (rest = '') =>
  ({ post }: World) =>
    `/posts/${post.id}${rest}`

const muteOf = ({ olga }: World) => `/users/${olga.id}/mute`

const reported = async (app: TestApp, { boris, post }: World): Promise<undefined> => {
  await report(app, boris, { postId: post.id })
}

const removed = async (app: TestApp, world: World): Promise<undefined> => {
  await reported(app, world)
  await decide(app, world.moderator, { postId: world.post.id, verdict: 'remove' })
}

const appeal = send(
  'olga',
  'POST',
  ({ post }) => `/users/current/removed-posts/${post.id}/appeal`,
  {
    text: 'Это не спам',
  },
)
const appealed = async (app: TestApp, world: World): Promise<undefined> => {
  await removed(app, world)
  await after(appeal)(app, world)
}

type Person = 'olga' | 'petr'

const blockOf = (who: Person) => (world: World) => `/moderation/users/${world[who].id}/block`
const BLOCK = { reason: 'Спам', days: 7 }
const blocked = after(send('moderator', 'PUT', blockOf('olga'), BLOCK))

const left = (who: Person) => async (app: TestApp, world: World) => {
  await leave(app, world[who])
  return undefined
}

const publishChange = async () => {}
const MOVING = { nameKey: Buffer.alloc(32), mayErase: async () => false, publishChange }

const idOf = (answer: { body?: { id?: string } }) => answer.body?.id ?? 'none'
const login = async (app: TestApp, { email }: TestUser) =>
  idOf(await startAt(app, '/logins', { email }))

/** What may happen to a person's account. The person leaves from another device than acts. */
const departures = (who: Person, whose: string): [Write, Write, Write, Write, Write] => [
  {
    name: `leave${whose}`,
    prepare: async (app, world) => {
      const { token, clientToken } = world[who === 'olga' ? 'phone' : who]
      const body = { clientToken }
      return idOf(await app.call('POST', '/users/current/deletion', { token, body }))
    },
    call: ({ app, world, id }) => {
      const { token, clientToken } = world[who === 'olga' ? 'phone' : who]
      const body = { confirmCode: app.codeFor(id), clientToken }
      return app.call('POST', `/users/current/deletion/${id}/verify`, { token, body })
    },
  },
  { name: `block${whose}`, call: send('moderator', 'PUT', blockOf(who), BLOCK) },
  {
    name: `erase${whose}`,
    isInSteps: true,
    call: within(({ app, world }) =>
      eraseNow(app.db, { userId: world[who].id, actor: 'operator', ...MOVING }),
    ),
  },
  {
    name: `move the left account${whose}`,
    isInSteps: true,
    prepare: left(who),
    call: within(({ app }) => moveAccounts(app.db, MOVING)),
  },
  {
    name: `return${whose}`,
    prepare: async (app, world) => {
      await left(who)(app, world)
      await moveAccounts(app.db, MOVING)
      return login(app, world[who])
    },
    call: ({ app, id }) =>
      app.call('POST', `/logins/${id}/verify`, {
        body: { confirmCode: app.codeFor(id), clientToken: 'one browser', restore: true },
      }),
  },
]

const [leaving, blocking, erasing, moving, returning] = departures('olga', '')

const changeOf = (who: Person) => ({
  prepare: async (app: TestApp, world: World) =>
    idOf(await startChange(app, world[who], NEW_EMAIL)),
  call: ({ app, world, id }: Act) => verifyChange(app, world[who], id),
})

const registrationOf = (email: string, clientToken: string) => ({
  prepare: async (app: TestApp) =>
    idOf(await startAt(app, '/registrations', { email, clientToken })),
  call: ({ app, id }: Act) =>
    verifyAt(app, '/registrations', { id, code: app.codeFor(id), clientToken }),
})

const decision = (who: 'moderator' | 'second', verdict: 'remove' | 'keep', more = {}) => ({
  prepare: reported,
  call: ({ app, world }: Act) =>
    decide(app, world[who], { postId: world.post.id, verdict, ...more }),
})

/**
 * Writes on the same rows. Those that change less are prepared first, so that most calls of a pair
 * find what they need.
 */
const WRITES: Write[] = [
  {
    name: 'publish',
    call: send(
      'olga',
      'POST',
      () => '/posts',
      (side) => ({ text: `Запись ${side}` }),
    ),
  },
  {
    name: 'publish with a key',
    call: ({ app, world }) =>
      app.call('POST', '/posts', {
        token: world.olga.token,
        headers: { 'idempotency-key': 'one' },
        body: { text: 'Запись с ключом' },
      }),
  },
  {
    name: 'reply',
    call: send('petr', 'POST', ofPost('/replies'), (side) => ({ text: `Ответ ${side}` })),
  },
  {
    name: 'reply to the reply',
    call: send(
      'olga',
      'POST',
      ({ reply }) => `/posts/${reply.id}/replies`,
      (side) => ({ text: `Ответ на ответ ${side}` }),
    ),
  },
  {
    name: 'edit',
    call: send('olga', 'PATCH', ofPost(), (side) => ({ text: `Иначе ${side}` })),
  },
  { name: 'like', call: send('petr', 'POST', ofPost('/likes')) },
  {
    name: 'unlike',
    prepare: after(send('petr', 'POST', ofPost('/likes'))),
    call: send('petr', 'DELETE', ofPost('/likes')),
  },
  { name: 'mute the post', call: send('olga', 'PUT', ofPost('/mute')) },
  {
    name: 'unmute the post',
    prepare: after(send('olga', 'PUT', ofPost('/mute'))),
    call: send('olga', 'DELETE', ofPost('/mute')),
  },
  { name: 'mute a person', call: send('petr', 'PUT', muteOf) },
  {
    name: 'unmute a person',
    prepare: after(send('petr', 'PUT', muteOf)),
    call: send('petr', 'DELETE', muteOf),
  },
  { name: 'mark as read', call: send('olga', 'PUT', () => '/users/current/received', { seen: 9 }) },
  {
    name: 'stop reply mails',
    call: send('olga', 'PUT', () => '/users/current/reply-mails', { wantsMail: false }),
  },
  {
    name: 'queue reply mails',
    prepare: async (app) => {
      await sql`UPDATE posts SET created_at = created_at - interval '2 days'
        WHERE received_no IS NOT NULL`.execute(app.db)
      return undefined
    },
    call: within(
      ({ app }) => answerJobs(app.db)['mail-replies']?.run({}, {} as never) as Promise<void>,
    ),
  },
  {
    name: 'rename',
    call: send('olga', 'PATCH', () => '/users/current/profile', { username: 'new_name' }),
  },
  {
    name: 'refresh',
    call: ({ app, world }) =>
      app.call('PATCH', '/sessions/current', {
        headers: { cookie: world.phone.cookie },
        body: { clientToken: PHONE },
      }),
  },
  {
    name: 'close a session',
    prepare: async (app, { olga }) => {
      const { body } = await app.call('GET', '/sessions', { token: olga.token })
      return body.sessions[1]?.id
    },
    call: send('olga', 'DELETE', (_, id) => `/sessions/${id}`),
  },
  { name: 'close other sessions', call: send('olga', 'DELETE', () => '/sessions') },
  { name: 'sign out', call: send('phone', 'DELETE', () => '/sessions/current') },
  {
    name: 'start a sign-in',
    call: ({ app, world }) =>
      startAt(app, '/logins', { email: world.olga.email, clientToken: 'other' }),
  },
  {
    name: 'sign in',
    prepare: (app, { olga }) => login(app, olga),
    call: ({ app, id }) => verifyAt(app, '/logins', { id, code: app.codeFor(id) }),
  },
  {
    name: 'guess a code',
    prepare: (app, { olga }) => login(app, olga),
    call: ({ app, id }) => verifyAt(app, '/logins', { id, code: wrongCode(app.codeFor(id)) }),
  },
  { name: 'register', ...registrationOf(NEW_EMAIL, 'one browser') },
  {
    name: 'start a change of e-mail',
    call: ({ app, world }) => startChange(app, world.olga, 'third@example.org'),
  },
  { name: 'change the e-mail', ...changeOf('olga') },
  {
    name: 'start leaving',
    call: send('phone', 'POST', () => '/users/current/deletion', { clientToken: PHONE }),
  },
  {
    name: 'report',
    prepare: reported,
    call: ({ app, world }) => report(app, world.petr, { postId: world.post.id }),
  },
  {
    name: 'tell moderators',
    prepare: reported,
    call: inTransaction((tx) => tellModerators(tx, ['chief@example.org'])),
  },
  { name: 'remove', ...decision('moderator', 'remove') },
  { name: 'keep', ...decision('moderator', 'keep') },
  { name: 'remove and block', ...decision('moderator', 'remove', { block: { days: 7 } }) },
  leaving,
  { name: 'delete the reply', call: send('petr', 'DELETE', ({ reply }) => `/posts/${reply.id}`) },
  { name: 'delete', call: send('olga', 'DELETE', ofPost()) },
  blocking,
  {
    name: 'block and remove',
    isInSteps: true,
    call: send('moderator', 'PUT', blockOf('olga'), { ...BLOCK, removesRecent: true }),
  },
  {
    name: 'close writing',
    call: inTransaction((tx) =>
      closeSite(tx, { part: 'writing', reason: 'Ремонт', actor: 'operator' }),
    ),
  },
  {
    name: 'dismiss the moderator',
    call: inTransaction((tx, { world }) =>
      removeModerator(tx, { email: world.moderator.email, actor: 'operator' }),
    ),
  },
  erasing,
  {
    name: 'undo the change of e-mail',
    prepare: async (app, { olga }) => {
      const { body } = await startChange(app, olga, 'interim@example.org')
      await verifyChange(app, olga, body.id)
      const change = app.db.selectFrom('email_changes').select('id')
      return (await change.executeTakeFirst())?.id
    },
    call: ({ app, id }) =>
      app.call('POST', `/email-changes/${id}/undo`, { body: { secret: app.undoSecretFor(id) } }),
  },
  {
    name: 'review hidden posts',
    isInSteps: true,
    prepare: async (app, world) => {
      await reported(app, world)
      await report(app, world.petr, { postId: world.post.id })
      return undefined
    },
    call: within(({ app }) => createHidingReview(app.db, { reportsToHide: 3, publishChange })()),
  },
  {
    name: 'appeal',
    prepare: removed,
    call: appeal,
  },
  {
    name: 'grant the appeal',
    prepare: appealed,
    call: ({ app, world }) =>
      decide(app, world.moderator, { postId: world.post.id, verdict: 'keep' }),
  },
  {
    name: 'restore',
    prepare: removed,
    call: inTransaction((tx, { world }) =>
      decideAny(tx, {
        postId: world.post.id,
        verdict: 'keep',
        actor: 'operator',
        removedDays: 30,
      }),
    ),
  },
  {
    name: 'purge',
    isInSteps: true,
    prepare: async (app, world) => {
      await removed(app, world)
      await app.db
        .updateTable('posts')
        .set({ hidden_until: new Date(0) })
        .where('hidden_for', 'is not', null)
        .execute()
      return undefined
    },
    call: within(async ({ app }) => {
      await purgeExpiredPosts(app.db)
      await moveLikes(app.db)
    }),
  },
  {
    name: 'mark reports as seen',
    prepare: async (app, world) => {
      await removed(app, world)
      await app.db
        .updateTable('reports')
        .set({ decided_at: new Date(0) })
        .execute()
      return undefined
    },
    call: send('boris', 'PUT', () => '/users/current/reports/seen'),
  },
  { name: 'unblock', prepare: blocked, call: send('moderator', 'DELETE', blockOf('olga')) },
  moving,
  returning,
]

const find = (...names: string[]) => WRITES.filter(({ name }) => names.includes(name))

/** The same by others, and what may happen to the account of a person who writes on these rows. */
const BY_OTHERS: [Write[], Write[]][] = [
  [
    find('reply'),
    [{ name: 'reply of another', call: send('anna', 'POST', ofPost('/replies'), { text: 'И я' }) }],
  ],
  [
    find('like', 'unlike'),
    [{ name: 'like of another', call: send('boris', 'POST', ofPost('/likes')) }],
  ],
  [
    find('report'),
    [
      {
        name: 'report of another',
        call: ({ app, world }) => report(app, world.anna, { postId: world.post.id }),
      },
    ],
  ],
  [
    find('rename'),
    [
      {
        name: 'rename of another',
        call: send('petr', 'PATCH', () => '/users/current/profile', { username: 'New_Name' }),
      },
    ],
  ],
  [
    find('register', 'change the e-mail'),
    [{ name: 'change of another to it', ...changeOf('petr') }],
  ],
  [
    find('register'),
    [{ name: 'register in another browser', ...registrationOf(NEW_EMAIL, 'another browser') }],
  ],
  [
    find('remove', 'keep', 'remove and block'),
    [
      { name: 'keep by another', ...decision('second', 'keep') },
      { name: 'remove by another', ...decision('second', 'remove') },
    ],
  ],
  [
    find(
      'reply',
      'like',
      'unlike',
      'report',
      'mute a person',
      'delete the reply',
      'mark as read',
      'refresh',
    ),
    departures('petr', ' of Petr'),
  ],
]

export type Pair = readonly [first: Write, second: Write]

/** Every write with itself and with each later one. */
const pairsOf = (writes: Write[]) =>
  writes.flatMap((first, at) => writes.slice(at).map((second): Pair => [first, second]))

export const PAIRS: Pair[] = [
  ...pairsOf(WRITES),
  ...BY_OTHERS.flatMap(([firsts, seconds]) =>
    firsts.flatMap((first) => seconds.map((second): Pair => [first, second])),
  ),
]

const PUBLISHING = find('publish', 'reply')

/** Pairs with a call that checks an unknown session by a statement of its own. */
export const PAIRS_IN_UNKNOWN_SESSIONS = PAIRS.filter((pair) =>
  pair.some((write) => PUBLISHING.includes(write)),
)

export function findPair(first: string, second: string): Pair {
  const pair = PAIRS.find(([one, other]) => one.name === first && other.name === second)
  if (!pair) throw new Error(`${first} × ${second} is no pair`)
  return pair
}
