import { afterAll, expect, test } from 'vitest'
import { buildWall } from '../pairs/run-pair.ts'
import { createNormalizer } from '../pairs/stored-state.ts'
import type { Answer, Call, Write } from '../pairs/world.ts'
import { WRITES } from '../pairs/writes.ts'

/**
 * The answer to a call gets lost, and the caller sends the call again: what is stored, and the second
 * answer, must be those of one call that was answered, also if the two are underway at once. The
 * writes are those of the pairs, which contain every endpoint that writes.
 */

/** Jobs and commands of the operator, whose answers cross no network. */
const NOT_CALLED = new Set([
  ...['queue reply mails', 'tell moderators', 'close writing', 'dismiss the moderator', 'erase'],
  ...['review hidden posts', 'restore', 'purge', 'hide the left account'],
])

/** Calls that mean something new each time. */
const COUNTED = new Set([
  // Without an Idempotency-Key, which the web always sends.
  ...['publish', 'reply', 'reply to the reply', 'clarify', 'mention', 'reply and mention'],
  'guess a code',
  // Each offers a challenge of its own, and those that nobody signs end by themselves.
  ...['start a passkey', 'start a sign-in with a passkey'],
])

/**
 * Calls of which the second answer says that there is nothing left to do. If the web lost the first
 * one, it shows a success (web/session/write.ts, compose.queries.ts, account.queries.ts).
 */
const NOTHING_LEFT: Record<string, string> = {
  'close a session': 'SESSION_NOT_FOUND',
  'sign out': 'UNAUTHORIZED',
  delete: 'POST_NOT_FOUND',
  'delete the clarification': 'POST_NOT_FOUND',
  'delete the reply': 'POST_NOT_FOUND',
  remove: 'POST_NOT_FOUND',
  keep: 'POST_NOT_FOUND',
  'remove and block': 'POST_NOT_FOUND',
  'grant the appeal': 'POST_NOT_FOUND',
  appeal: 'ALREADY_APPEALED',
  report: 'POST_NOT_FOUND',
  edit: 'INVALID_REQUEST',
  'mention by an edit': 'INVALID_REQUEST',
}

const replyWithKey: Call = ({ app, world }) =>
  app.call('POST', `/posts/${world.post.id}/replies`, {
    token: world.petr.token,
    headers: { 'idempotency-key': 'one' },
    body: { text: 'Ответ с ключом' },
  })

const CALLS: Write[] = [
  ...WRITES.filter(({ name }) => !NOT_CALLED.has(name) && !COUNTED.has(name)),
  { name: 'reply with a key', call: replyWithKey, prepare: undefined, isInSteps: false },
]

const { lab, world, base } = await buildWall()
afterAll(() => lab.close())

test.for(CALLS)(
  '$name: sent again, or twice at once, it changes nothing more',
  async ({ name, prepare, isInSteps, call }) => {
    await lab.read()
    await lab.restore(base)
    const id = String(await prepare?.(lab.app, world))
    const before = await lab.read()
    const { normal, changes } = createNormalizer(before)
    const send = (): Promise<Answer> => call({ app: lab.app, world, side: 'A', id })
    const changed = async () => changes(await lab.read())

    const once = await send()
    const expected = await changed()
    expect(once.status).toBeLessThan(300)
    await lab.restore(before)
    await send()
    const again = await send()
    expect(await changed()).toEqual(expected)
    const refusal = NOTHING_LEFT[name]
    if (refusal) expect(again.body).toMatchObject({ code: refusal })
    else expect(normal(again)).toEqual(normal(once))

    // Two that run at once may share the steps of one.
    if (isInSteps) return
    await lab.restore(before)
    const both = await Promise.all(lab.nodes.map(({ app }) => call({ app, world, side: 'A', id })))
    expect(await changed()).toEqual(expected)
    const refused = both.filter(({ status }) => status >= 300)
    expect(refused.length).toBeLessThan(2)
    for (const { body } of refused) expect(body).toMatchObject({ code: refusal })
    for (const answer of both) if (answer.status < 300) expect(normal(answer)).toEqual(normal(once))
  },
)

test('every exception is the name of a write', () => {
  const names = WRITES.map(({ name }) => name)
  expect(names).toEqual(
    expect.arrayContaining([...NOT_CALLED, ...COUNTED, ...Object.keys(NOTHING_LEFT)]),
  )
})
