import fc from 'fast-check'
import { expect } from 'vitest'
import type { TestAnswer, TestUser } from '../../testing/client.ts'
import type { TestApp } from '../../testing/test-app.ts'

/** One action of a user. `who` and `post` are taken modulo the number of users and posts. */
type Step = {
  what: 'publish' | 'reply' | 'like' | 'unlike' | 'edit' | 'delete'
  who: number
  post: number
}

export function randomSteps(count: number): fc.Arbitrary<Step[]> {
  const what = fc.constantFrom<Step['what'][]>(
    ...(['publish', 'reply', 'reply', 'like', 'like', 'unlike', 'edit', 'delete'] as const),
  )
  const step = fc.record({ what, who: fc.nat(1000), post: fc.nat(1_000_000) })
  return fc.array(step, { minLength: count, maxLength: count, size: 'max' })
}

type ModelPost = {
  id: string
  owner: TestUser
  repliedId: string | null
  likers: Map<string, number>
}

/** The simplest model of the wall. Every step is taken in the product and in the model. */
export class WallModel {
  readonly app: TestApp
  readonly users: TestUser[]
  /** Oldest first. */
  posts: ModelPost[] = []
  readonly refusals: { step: Step; status: number; body: unknown }[] = []
  #likes = 0

  constructor(app: TestApp, users: TestUser[]) {
    this.app = app
    this.users = users
  }

  /** Takes one step in the product and, if that accepts it, in the model. */
  async take(step: Step): Promise<void> {
    const target = this.posts[step.post % Math.max(1, this.posts.length)]
    const user = this.users[step.who % this.users.length]
    if (!user) throw new Error('the model has no users')
    if (!target || step.what === 'publish') return this.#publish(step, user, null)
    if (step.what === 'reply') return this.#publish(step, user, target.id)
    if (step.what === 'like' || step.what === 'unlike') return this.#like(step, user, target)
    const method = step.what === 'edit' ? 'PATCH' : 'DELETE'
    const { token } = target.owner
    const body = step.what === 'edit' ? { text: `Иначе ${step.who} ${Math.random()}` } : undefined
    const answer = await this.app.call(method, `/posts/${target.id}`, {
      token,
      ...(body && { body }),
    })
    if (this.#accepted(step, answer) && step.what === 'delete') {
      this.posts = this.posts.filter((post) => post !== target)
    }
  }

  async #publish(step: Step, user: TestUser, repliedId: string | null): Promise<void> {
    const path = repliedId === null ? '/posts' : `/posts/${repliedId}/replies`
    const answer = await this.app.call('POST', path, {
      token: user.token,
      body: { text: `Запись ${step.post}` },
    })
    if (!this.#accepted(step, answer)) return
    this.posts.push({ id: answer.body.id, owner: user, repliedId, likers: new Map() })
  }

  async #like(step: Step, user: TestUser, { id, likers }: ModelPost): Promise<void> {
    const method = step.what === 'like' ? 'POST' : 'DELETE'
    const answer = await this.app.call(method, `/posts/${id}/likes`, { token: user.token })
    if (!this.#accepted(step, answer)) return
    if (step.what === 'unlike') likers.delete(user.id)
    else if (!likers.has(user.id)) likers.set(user.id, this.#likes++)
  }

  #accepted(step: Step, { status, body }: TestAnswer): boolean {
    if (status >= 400) this.refusals.push({ step, status, body })
    return status < 400
  }
}

/** Every list of the product, for every user, equals the model's: ids in order, and total. */
export async function expectLists(app: TestApp, { posts, users }: WallModel): Promise<void> {
  const newest = posts.toReversed()
  const wall = newest.filter(({ repliedId }) => repliedId === null)
  await expectList(app, '/posts?', wall)
  for (const { id, token } of users) {
    const liked = newest
      .filter(({ likers }) => likers.has(id))
      .sort((a, b) => (b.likers.get(id) ?? 0) - (a.likers.get(id) ?? 0))
    const own = newest.filter(({ owner }) => owner.id === id)
    const ownReplies = own.filter(({ repliedId }) => repliedId !== null)
    await expectList(
      app,
      `/posts?userId=${id}&`,
      own.filter(({ repliedId }) => repliedId === null),
    )
    await expectList(app, '/posts?filter=liked&', liked, token)
    await expectList(app, '/posts/replies?', ownReplies, token)
  }
  for (const { id, likers } of posts) {
    const replies = newest.filter(({ repliedId }) => repliedId === id)
    await expectList(app, `/posts/${id}/replies?`, replies)
    const { actions } = (await app.call('GET', `/posts/${id}`)).body
    expect(actions).toMatchObject({ likes_count: likers.size, replies_count: replies.length })
  }
}

async function expectList(
  app: TestApp,
  path: string,
  expected: ModelPost[],
  token?: string,
): Promise<void> {
  const { body } = await app.call('GET', `${path}limit=50`, { token })
  expect({ path, total: body.total, ids: body.posts.map(({ id }: ModelPost) => id) }).toEqual({
    path,
    total: expected.length,
    ids: expected.slice(0, 50).map(({ id }) => id),
  })
}
