import fc from 'fast-check'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { AppError } from '../http/app-error.ts'
import { findCounterDifferences } from '../posts/counters.task.ts'
import { addJob } from '../queue/queue.ts'
import type { TestUser } from '../testing/client.ts'
import { decide, report, signUpModerator, signUpOld, undo } from '../testing/moderation-calls.ts'
import { appForTest, type TestApp } from '../testing/test-app.ts'
import { decide as restoreAny } from './decisions.service.ts'

/** The same in each run, so that a failure can be reproduced, unless ACTS_SEED and ACTS_RUNS say otherwise. */
const SEED = Number(process.env.ACTS_SEED ?? 20_26)
const RUNS = Number(process.env.ACTS_RUNS ?? 6)
const ACTS_PER_RUN = 80
const NEWEST = 8

const ACTS = [
  'publish',
  'reply',
  'reply',
  'like',
  'like',
  'unlike',
  'delete',
  'report',
  'report',
  'hide',
  'remove',
  'keep',
  'undo',
  'restore',
  'block',
  'unblock',
  'move likes',
] as const

/** One act of a random person. `who`, `which` and `other` are taken modulo what there is. */
type Act = { what: (typeof ACTS)[number]; who: number; which: number }

const acts = fc.array(
  fc.record({ what: fc.constantFrom(...ACTS), who: fc.nat(1000), which: fc.nat(1_000_000) }),
  { minLength: ACTS_PER_RUN, maxLength: ACTS_PER_RUN, size: 'max' },
)

/** What has been published and decided so far; some of it is gone by now. */
type World = {
  app: TestApp
  people: TestUser[]
  moderator: TestUser
  posts: { id: string; owner: TestUser }[]
  decisions: string[]
  /** How often each act was accepted. */
  done: Map<string, number>
}

/** Performs an act, which may be refused: the post may be gone, and the person blocked. */
async function perform(world: World, { what, who, which }: Act): Promise<number> {
  const { app, people, moderator, posts, decisions } = world
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
    case 'delete': {
      const owner = await signedIn(
        world,
        people.findIndex(({ id }) => id === post.owner.id),
      )
      return (await app.call('DELETE', `/posts/${postId}`, { token: owner.token })).status
    }
    case 'report':
      return (await report(app, person, { postId, reasonId: String((which % 8) + 1) })).status
    case 'hide': {
      // Refused reports of this run would keep everybody from hiding anything.
      await sql`UPDATE reports SET decided_at = decided_at - interval '31 days'`.execute(app.db)
      const statuses = people.map(async (_, at) =>
        report(app, await signedIn(world, at), { postId }).then(({ status }) => status),
      )
      return Math.min(...(await Promise.all(statuses)))
    }
    case 'remove':
    case 'keep': {
      const { status, body } = await decide(app, moderator, { postId, verdict: what })
      if (status === 200) decisions.push(body.id)
      return status
    }
    case 'restore': {
      // As the operator's command does it: any post, also without an appeal.
      const asked = { postId, verdict: 'keep', actor: 'operator', isAsked: false } as const
      const restoring = app.db
        .transaction()
        .execute((tx) => restoreAny(tx, { ...asked, removedDays: 30 }))
      return restoring.then(
        () => 200,
        (error) => (error instanceof AppError ? error.status : Promise.reject(error)),
      )
    }
    case 'undo':
      return (await undo(app, moderator, decisions.at(-1) ?? '0')).status
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
      await sql`UPDATE removed_posts SET removed_at = removed_at - interval '16 seconds'`.execute(
        app.db,
      )
      await addJob(app.db, 'remove-likes', { payload: {} })
      return 200
  }
}

/** Signs a person in again whose sessions a block has closed. */
async function signedIn({ app, people }: World, index: number): Promise<TestUser> {
  const person = people[index] as TestUser
  const { status } = await app.call('GET', '/users/current', { token: person.token })
  if (status === 200) return person
  const again = await app.signIn(person.email)
  people[index] = again
  return again
}

test(
  'after random acts of random people, all at once, every counter equals its rows',
  async () => {
    const app = await appForTest()
    const moderator = await signUpModerator(app)
    const world: World = {
      app,
      people: await signUpOld(app, 5),
      moderator,
      posts: [],
      decisions: [],
      done: new Map(),
    }
    for (const user of world.people) {
      world.posts.push({ id: (await app.publish(user)).id, owner: user })
    }
    const property = fc.asyncProperty(acts, async (chosen) => {
      // Four at a time, so that they meet in the database.
      for (let next = 0; next < chosen.length; next += 4) {
        const together = chosen.slice(next, next + 4)
        const statuses = await Promise.all(together.map((act) => perform(world, act)))
        for (const [index, status] of statuses.entries()) {
          const what = together[index]?.what ?? ''
          expect([200, 201, 204, 400, 401, 403, 404], what).toContain(status)
          if (status < 300) world.done.set(what, (world.done.get(what) ?? 0) + 1)
        }
      }
      expect(await findCounterDifferences(app.db)).toEqual([])
    })
    await fc.assert(property, { numRuns: RUNS, seed: SEED, endOnFailure: true })
    expect(app.logged.filter((line) => line.includes('deadlock'))).toEqual([])
    const { hidden } = await app.db
      .selectFrom('journal')
      .select(({ fn }) => fn.countAll<string>().as('hidden'))
      .where('action', '=', 'post.hide')
      .executeTakeFirstOrThrow()
    expect(Number(hidden)).toBeGreaterThan(0)
    // Acts that never succeed would show nothing.
    expect([...new Set(ACTS)].filter((what) => !world.done.has(what))).toEqual([])
  },
  240_000 + RUNS * 20_000,
)
