import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ReceivedRepliesPage } from '../../../contract/answers.ts'
import { areTransitionsDone } from '../../testing/calls/account-deletion-calls.ts'
import { signUpModerator, signUpOld } from '../../testing/calls/moderation-calls.ts'
import { seedFans } from '../../testing/database/seed.ts'
import type { TestUser } from '../../testing/http/client.ts'
import { appForTest } from '../../testing/test-app.ts'
import { findCounterDifferences } from '../posts/counters.task.ts'
import { ACTS, perform, type World } from './random-acts.fixture.ts'

/**
 * The same in each run, so that a failure can be reproduced, unless ACTS_SEED and ACTS_RUNS say
 * otherwise.
 */
const SEED = Number(process.env.ACTS_SEED ?? 20_26)
const RUNS = Number(process.env.ACTS_RUNS ?? 3)
const ACTS_PER_RUN = 120
/** So many acts meet in the database. */
const AT_ONCE = 8

const what = fc.oneof(
  ...Object.entries(ACTS).map(([name, [weight]]) => ({ weight, arbitrary: fc.constant(name) })),
)
const acts = fc.array(fc.record({ what, who: fc.nat(1000), which: fc.nat(1_000_000) }), {
  minLength: ACTS_PER_RUN,
  maxLength: ACTS_PER_RUN,
  size: 'max',
})

test(
  'after random acts of random people, all at once, every counter equals its rows, and unread what the list of answers shows',
  async () => {
    const app = await appForTest()
    const moderator = await signUpModerator(app)
    const people = await signUpOld(app, 6)
    const world: World = { app, people, moderator, posts: [], left: new Set(), done: new Set() }
    for (const owner of people) world.posts.push({ id: (await app.publish(owner)).id, owner })
    // Its likes are too many to follow it at once.
    await seedFans(app.db, world.posts[0]?.id ?? '', 600)
    const property = fc.asyncProperty(acts, async (chosen) => {
      for (let next = 0; next < chosen.length; next += AT_ONCE) {
        const together = chosen.slice(next, next + AT_ONCE)
        const statuses = await Promise.all(together.map((act) => perform(world, act)))
        for (const [index, status] of statuses.entries()) {
          const what = together[index]?.what ?? ''
          // What the server has logged says why, where one is refused in another way.
          const log = app.logged.slice(-20).join('\n')
          // 429: who comes back again and again has used up the mails of a day.
          expect([200, 201, 204, 400, 401, 403, 404, 429], `${what}\n${log}`).toContain(status)
          if (status < 300) world.done.add(what)
        }
      }
      expect(await findCounterDifferences(app.db)).toEqual([])
      for (const person of world.people) await expectExactUnread(world, person)
    })
    await fc.assert(property, { numRuns: RUNS, seed: SEED, endOnFailure: true })
    expect(app.logged.filter((line) => line.includes('deadlock'))).toEqual([])
    await expect.poll(() => areTransitionsDone(app)).toBe(true)
    expect(await findCounterDifferences(app.db)).toEqual([])
    expect(await app.sql`SELECT FROM journal WHERE action = 'post.hide'`).not.toEqual([])
    // Acts that never succeed would show nothing; in a few runs chance leaves some out.
    if (RUNS >= 20) expect([...world.done].sort()).toEqual(Object.keys(ACTS).sort())
  },
  240_000 + RUNS * 20_000,
)

/** Unread is what the list shows after the mark. Jobs may hide and show posts between two reads. */
async function expectExactUnread({ app }: World, user: TestUser): Promise<void> {
  await expect
    .poll(async () => {
      const { unread } = await app.read('/users/current/received', user)
      // Who is away or blocked has no list until they sign in again.
      if (unread === undefined) return 0
      const { posts, seen }: ReceivedRepliesPage = await app.read(
        '/posts/replies/received?limit=50',
        user,
      )
      const after = posts.filter(({ received_no }) => received_no > seen).length
      return Math.min(unread, posts.length) - after
    })
    .toBe(0)
}
