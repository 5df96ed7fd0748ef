import { AppError } from '../../kernel/errors/app-error.ts'
import { addJob } from '../../kernel/queue/queue.ts'
import { comeBack, leave } from '../../testing/calls/account-deletion-calls.ts'
import { decide, report, restore, signUpOld } from '../../testing/calls/moderation-calls.ts'
import { ONE_BROWSER } from '../../testing/calls/sign-in-calls.ts'
import type { TestUser } from '../../testing/http/client.ts'
import type { TestApp } from '../../testing/test-app.ts'
import { eraseNow } from '../account-deletion/account-deletion.service.ts'

/** Acts are about the newest posts, so that they meet on one post. */
const NEWEST = 8
/** How many of the six have left at most: the others are enough to hide a post. */
const LEFT_MAX = 2
/** For an act that would be one too many. */
const NOT_NOW = 403

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

type Moment = {
  world: World
  /** The index of the person. */
  at: number
  person: TestUser
  post: World['posts'][number]
  which: number
}

type Act = (moment: Moment) => Promise<number>

/** Each act, and how often it is chosen in relation to the others. */
export const ACTS: Record<string, [weight: number, act: Act]> = {
  publish: [2, (moment) => publish(moment, '/posts')],
  reply: [2, (moment) => publish(moment, `/posts/${moment.post.id}/replies`)],
  like: [2, ({ post, ...by }) => send(by, 'POST', `/posts/${post.id}/likes`)],
  unlike: [1, ({ post, ...by }) => send(by, 'DELETE', `/posts/${post.id}/likes`)],
  edit: [
    1,
    (moment) => sendAsOwner(moment, 'PATCH', '', { text: textOf(moment.world, moment.which) }),
  ],
  delete: [1, (moment) => sendAsOwner(moment, 'DELETE')],
  report: [3, reportPost],
  hide: [2, hide],
  remove: [2, (moment) => decideAs(moment, 'remove')],
  keep: [1, (moment) => decideAs(moment, 'keep')],
  restore: [1, restorePost],
  block: [1, (moment) => changeBlock(moment, 'PUT', { reason: 'Спам', days: 1 })],
  unblock: [1, (moment) => changeBlock(moment, 'DELETE')],
  purge: [1, ({ world }) => run(world, 'purge-posts')],
  'hide or erase accounts': [1, ({ world }) => run(world, 'move-accounts')],
  leave: [2, leaveWall],
  return: [2, ({ world }) => withLeft(world, async (at) => (await signIn(world, at, true)).status)],
  erase: [1, ({ world }) => withLeft(world, (at) => erase(world, at))],
  mute: [1, (moment) => sendAsOwner(moment, 'PUT', '/muted')],
  unmute: [1, (moment) => sendAsOwner(moment, 'DELETE', '/muted')],
  'mute person': [1, ({ post, ...by }) => send(by, 'PUT', `/users/${post.owner.id}/mute`)],
  'unmute person': [1, ({ post, ...by }) => send(by, 'DELETE', `/users/${post.owner.id}/mute`)],
  'read answers': [1, readAnswers],
}

/** Each number is taken modulo what there is. */
type Chosen = { what: string; who: number; which: number }

/** Performs an act. It may be refused: the post may be deleted, and the person blocked. */
export async function perform(world: World, { what, who, which }: Chosen): Promise<number> {
  const { people, posts } = world
  const at = who % people.length
  const post = posts.at(-1 - (which % Math.min(NEWEST, posts.length)))
  const [, act] = ACTS[what] ?? []
  if (!post || !act) throw new Error(`Nothing to ${what}`)
  return act({ world, at, person: await signedIn(world, at), post, which })
}

type By = Pick<Moment, 'world' | 'person'>

async function send({ world, person: { token } }: By, method: string, path: string, body?: object) {
  return (await world.app.call(method, path, { token, body })).status
}

async function publish({ world, person, which }: Moment, path: string): Promise<number> {
  const sent = { token: person.token, body: { text: textOf(world, which) } }
  const { status, body } = await world.app.call('POST', path, sent)
  if (status === 201) world.posts.push({ id: body.id, owner: person })
  return status
}

/** Returns a text that names one or two of the people. */
function textOf({ people }: World, which: number): string {
  const names = [which, which >> 2].map((at) => `@${people[at % people.length]?.username}`)
  return `Запись ${which} ${names.join(' ')}`
}

async function sendAsOwner(
  { world, post: { id, owner } }: Moment,
  method: string,
  path = '',
  body?: object,
) {
  const at = world.people.findIndex((person) => person.id === owner.id)
  if (at < 0) return 404
  return send({ world, person: await signedIn(world, at) }, method, `/posts/${id}${path}`, body)
}

async function reportPost({ world, person, post, which }: Moment): Promise<number> {
  const reasonId = String((which % 8) + 1)
  return (await report(world.app, person, { postId: post.id, reasonId })).status
}

async function hide({ world, post }: Moment): Promise<number> {
  // Refused reports of this run would keep everybody from hiding anything. The reports are
  // locked one after the other, as all acts lock them in an order of their own.
  await world.app.sql`UPDATE reports SET decided_at = decided_at - interval '31 days' WHERE id IN (
    SELECT id FROM reports WHERE decided_at IS NOT NULL FOR UPDATE SKIP LOCKED)`
  const reports = world.people.map(async (_, at) =>
    report(world.app, await signedIn(world, at), { postId: post.id }),
  )
  return Math.min(...(await Promise.all(reports)).map(({ status }) => status))
}

async function decideAs({ world, post }: Moment, verdict: 'remove' | 'keep'): Promise<number> {
  return (await decide(world.app, world.moderator, { postId: post.id, verdict })).status
}

function restorePost({ world, post }: Moment): Promise<number> {
  return restore(world.app, post.id).then(
    () => 200,
    (error) => (error instanceof AppError ? error.status : Promise.reject(error)),
  )
}

function changeBlock({ world, person: { id } }: Moment, method: string, body?: object) {
  return send({ world, person: world.moderator }, method, `/moderation/users/${id}/block`, body)
}

async function run({ app }: World, task: 'purge-posts' | 'move-accounts'): Promise<number> {
  await addJob(app.db, task)
  return 200
}

/** Reads the replies that a person received, and moves the mark as the page does. */
async function readAnswers({ world, person }: Moment): Promise<number> {
  const { token } = person
  const { status, body } = await world.app.call('GET', '/posts/replies/received', { token })
  const seen = body.posts?.[0]?.received_no
  if (seen === undefined) return status
  return send({ world, person }, 'PUT', '/users/current/received', { seen })
}

async function leaveWall({ world, person }: Moment): Promise<number> {
  if (world.left.size >= LEFT_MAX) return NOT_NOW
  world.left.add(person.id)
  return (await leave(world.app, person)).status
}

/** Calls `act` with the index of a person who has left; returns NOT_NOW if nobody has left. */
async function withLeft(world: World, act: (index: number) => Promise<number>): Promise<number> {
  const index = world.people.findIndex(({ id }) => world.left.delete(id))
  return index < 0 ? NOT_NOW : act(index)
}

async function erase({ app, people }: World, at: number): Promise<number> {
  const userId = (people[at] as TestUser).id
  const erasure = { nameKey: Buffer.alloc(32), actor: 'operator', publishChange: async () => {} }
  await eraseNow(app.db, { userId, ...erasure })
  const [successor] = await signUpOld(app, 1)
  people[at] = successor as TestUser
  return 200
}

/** A block closes sessions. Who has left stays away, and is refused everything. */
async function signedIn(world: World, at: number): Promise<TestUser> {
  const { token } = world.people[at] as TestUser
  const { status } = await world.app.call('GET', '/users/current', { token })
  if (status !== 200) await signIn(world, at)
  return world.people[at] as TestUser
}

async function signIn({ app, people }: World, at: number, restore?: true) {
  const person = people[at] as TestUser
  const answer = await comeBack(app, person.email, restore)
  // Meanwhile somebody new may have come in place of the person.
  if (answer.status === 200 && people[at]?.id === person.id) {
    const { token } = answer.body.accessToken
    people[at] = { ...person, token, cookie: answer.cookie ?? '', clientToken: ONE_BROWSER }
  }
  return answer
}
