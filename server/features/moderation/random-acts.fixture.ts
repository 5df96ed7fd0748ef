import { sql } from 'kysely'
import type { ReceivedPage } from '../../../contract/answers.ts'
import { AppError } from '../../kernel/errors/app-error.ts'
import { addJob } from '../../kernel/queue/queue.ts'
import { comeBack, leave, ONE_BROWSER } from '../../testing/account-deletion-calls.ts'
import type { TestUser } from '../../testing/client.ts'
import { decide, report, restore, signUpOld } from '../../testing/moderation-calls.ts'
import type { TestApp } from '../../testing/test-app.ts'
import { eraseNow } from '../account-deletion/account-deletion.service.ts'

/** Acts are about the newest posts, so that they meet on one post. */
const NEWEST = 8

export const ACTS = [
  'publish',
  'publish',
  'reply',
  'reply',
  'like',
  'like',
  'unlike',
  'delete',
  'report',
  'report',
  'report',
  'hide',
  'hide',
  'remove',
  'remove',
  'keep',
  'restore',
  'block',
  'unblock',
  'move likes',
  'leave',
  'leave',
  'return',
  'return',
  'move accounts',
  'erase',
  'mute',
  'unmute',
  'mute person',
  'unmute person',
  'read answers',
] as const

/** How many of the six have left at most: the others are enough to hide a post. */
const LEFT_MAX = 2

/** One act of a random person. `who`, `which` and `other` are taken modulo what there is. */
export type Act = { what: (typeof ACTS)[number]; who: number; which: number }

/** What has been published so far; some of it is gone by now. */
export type World = {
  app: TestApp
  people: TestUser[]
  moderator: TestUser
  posts: { id: string; owner: TestUser }[]
  /** The ids of those who have deleted their accounts. */
  left: Set<string>
  /** The acts that were accepted. */
  done: Set<string>
}

/** The act may be refused: the post may be deleted, and the person blocked. */
export async function perform(world: World, { what, who, which }: Act): Promise<number> {
  const { app, people, moderator, posts } = world
  const index = who % people.length
  const person = await signedIn(world, index)
  // Of the newest, so that acts meet on one post.
  const post = posts.at(-1 - (which % Math.max(1, Math.min(NEWEST, posts.length))))
  const send = (method: string, path: string, body?: object) =>
    app.call(method, path, { token: person.token, ...(body && { body }) })
  if (what === 'publish' || what === 'reply' || !post) {
    const path = what === 'reply' && post ? `/posts/${post.id}/replies` : '/posts'
    const answer = await send('POST', path, { text: `Запись ${which}` })
    if (answer.status === 201) posts.push({ id: answer.body.id, owner: person })
    return answer.status
  }
  const postId = post.id
  switch (what) {
    case 'like':
    case 'unlike':
      return (await send(what === 'like' ? 'POST' : 'DELETE', `/posts/${postId}/likes`)).status
    case 'delete':
      return byOwner(world, post, 'DELETE')
    case 'report':
      return (await report(app, person, { postId, reasonId: String((which % 8) + 1) })).status
    case 'hide': {
      // Refused reports of this run would keep everybody from hiding anything. The reports are
      // locked one after the other, as all acts lock them in an order of their own.
      await sql`UPDATE reports SET decided_at = decided_at - interval '31 days' WHERE id IN (
        SELECT id FROM reports WHERE decided_at IS NOT NULL FOR UPDATE SKIP LOCKED)`.execute(app.db)
      const statuses = people.map(async (_, at) =>
        report(app, await signedIn(world, at), { postId }).then(({ status }) => status),
      )
      return Math.min(...(await Promise.all(statuses)))
    }
    case 'remove':
    case 'keep':
      return (await decide(app, moderator, { postId, verdict: what })).status
    case 'restore':
      return restore(app, postId).then(
        () => 200,
        (error) => (error instanceof AppError ? error.status : Promise.reject(error)),
      )
    case 'block': {
      const body = { reason: 'Спам', days: 1 }
      const path = `/moderation/users/${person.id}/block`
      return (await app.call('PUT', path, { token: moderator.token, body })).status
    }
    case 'unblock': {
      const path = `/moderation/users/${person.id}/block`
      return (await app.call('DELETE', path, { token: moderator.token })).status
    }
    case 'move likes':
      await addJob(app.db, 'move-likes', { payload: {} })
      return 200
    case 'move accounts':
      await addJob(app.db, 'move-accounts', { payload: {} })
      return 200
    case 'mute':
      return byOwner(world, post, 'PUT', '/mute')
    case 'unmute':
      return byOwner(world, post, 'DELETE', '/mute')
    case 'mute person':
    case 'unmute person':
      return (await send(what === 'mute person' ? 'PUT' : 'DELETE', `/users/${post.owner.id}/mute`))
        .status
    case 'read answers':
      return readAnswers(world, person)
    case 'leave':
    case 'return':
    case 'erase':
      return performOnAccount(world, what, who)
  }
}

async function byOwner(
  world: World,
  { id, owner }: World['posts'][number],
  method: string,
  path = '',
): Promise<number> {
  const at = world.people.findIndex((person) => person.id === owner.id)
  if (at < 0) return 404
  const { token } = await signedIn(world, at)
  return (await world.app.call(method, `/posts/${id}${path}`, { token })).status
}

/** Reads the replies that a person received, and moves the mark as the page does. */
async function readAnswers({ app }: World, { token }: TestUser): Promise<number> {
  const { status, body } = await app.call('GET', '/posts/replies/received', { token })
  const newest = (body as ReceivedPage).posts?.[0]?.received_no
  if (newest === undefined) return status
  const mark = { token, body: { seen: newest } }
  return (await app.call('PUT', '/users/current/received', mark)).status
}

/** At most a few accounts are away at once, and only they return or are erased. */
async function performOnAccount(
  world: World,
  what: 'leave' | 'return' | 'erase',
  who: number,
): Promise<number> {
  const { app, people, left } = world
  if (what === 'leave') {
    const index = who % people.length
    if (left.size >= LEFT_MAX) return NOT_NOW
    left.add((people[index] as TestUser).id)
    return (await leave(app, await signedIn(world, index))).status
  }
  const index = people.findIndex(({ id }) => left.delete(id))
  if (index < 0) return NOT_NOW
  if (what === 'return') return (await signInAgain(world, index, true)).status
  const userId = (people[index] as TestUser).id
  await eraseNow(app.db, { userId, nameKey: Buffer.alloc(32), actor: 'operator', publishChange })
  const [successor] = await signUpOld(app, 1)
  people[index] = successor as TestUser
  return 200
}

/** For an act that would be one too many. */
const NOT_NOW = 403
const publishChange = async () => {}

/** A block closes sessions. Who has left stays away, and is refused everything. */
async function signedIn(world: World, index: number): Promise<TestUser> {
  const { app, people } = world
  const { token } = people[index] as TestUser
  const { status } = await app.call('GET', '/users/current', { token })
  if (status !== 200) await signInAgain(world, index)
  return people[index] as TestUser
}

async function signInAgain({ app, people }: World, index: number, restore?: true) {
  const person = people[index] as TestUser
  const answer = await comeBack(app, person.email, restore)
  // Meanwhile somebody new may have come in place of the person.
  if (answer.status === 200 && people[index]?.id === person.id) {
    const { token } = answer.body.accessToken
    people[index] = { ...person, token, cookie: answer.cookie ?? '', clientToken: ONE_BROWSER }
  }
  return answer
}
