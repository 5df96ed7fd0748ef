import { callOf } from '../../server/access.fixture.ts'
import type { Queryable } from '../../server/kernel/db/database.ts'
import { AppError } from '../../server/kernel/errors/app-error.ts'
import { type AccountFixture, storePasskey } from '../../server/testing/calls/account-fixture.ts'
import { signUpModerator } from '../../server/testing/calls/moderation-calls.ts'
import type { TestUser } from '../../server/testing/http/client.ts'
import type { TestApp } from '../../server/testing/test-app.ts'

export type Answer = { status: number; body: unknown }

export type World = Awaited<ReturnType<typeof makeWorld>>

export type Act = { app: TestApp; world: World; side: 'A' | 'B'; id: string }

export type Call = (act: Act) => Promise<Answer>

export type Write = {
  name: string
  /** Makes what the call needs. If it resolves to an id, the call gets that. */
  prepare: ((app: TestApp, world: World) => Promise<unknown>) | undefined
  isInSteps: boolean
  call: Call
}

export const PHONE = 'a phone'

/** `phone` is another session of Olga's; `reply` is Petr's to her `post`. */
export async function makeWorld(app: TestApp) {
  const olga = await app.signIn('olga@example.org', 'a desktop')
  const phone = await app.signIn('olga@example.org', PHONE)
  const petr = await app.signIn('petr@example.org')
  const anna = await app.signIn('anna@example.org')
  const boris = await app.signIn('boris@example.org')
  const moderator = await signUpModerator(app)
  const second = await signUpModerator(app)
  const question = await app.publish(petr, 'О чём говорит стена')
  const post = await app.publish(olga, 'Говорят, стены слышат')
  const reply = await app.reply(petr, post.id, 'Слышат')
  await app.reply(anna, post.id, 'И отвечают')
  await app.reply(olga, question.id, 'О людях')
  await app.call('POST', `/posts/${post.id}/likes`, { token: anna.token })
  const passkey = { id: await storePasskey(app, olga) }
  return { olga, phone, petr, anna, boris, moderator, second, post, reply, question, passkey }
}

/** The calls of the contract that `send` makes. */
export const SENT = new Set<string>()

/** Returns a call as server/access.fixture.ts describes it, by default by Olga. */
export const listedCall = (name: string, { olga, post }: World, caller = olga) =>
  callOf(name, { owner: olga, post } as AccountFixture, caller)

/** Makes a call by one of the people, such as `POST /posts/:post/likes`, with what `body` changes. */
export const send = (
  who: keyof World,
  route: string,
  body?: object | ((side: Act['side']) => object),
): Call => {
  const name = route.replace(/:\w+/, ':id').replace(/\?.*/, '')
  SENT.add(name)
  return ({ app, world, side, id }) => {
    const ids = { ...world, id: { id } }
    const path = route
      .replace(/^\w+ /, '')
      .replace(/:(\w+)/, (_, key: keyof typeof ids) => ids[key].id)
    const [method, , listed] = listedCall(name, world, world[who] as TestUser)
    const changes = typeof body === 'function' ? body(side) : body
    const sent = (listed.body || changes) && { ...listed.body, ...changes }
    return app.call(method, path, { token: listed.token, body: sent })
  }
}

export const after = (call: Call) => (app: TestApp, world: World) =>
  call({ app, world, side: 'A', id: 'none' })

/** Runs a job, or a command of the operator, on the pool of a node. */
export const within =
  (work: (act: Act) => Promise<unknown>): Call =>
  async (act) => {
    try {
      return { status: 200, body: (await work(act)) ?? null }
    } catch (error) {
      if (!(error instanceof AppError)) return { status: 500, body: String(error) }
      return { status: error.status, body: error.code }
    }
  }

export const inTransaction = (work: (tx: Queryable, act: Act) => Promise<unknown>) =>
  within((act) => act.app.db.transaction().execute((tx) => work(tx, act)))
