import type { TestUser } from '../../server/testing/client.ts'
import type { Node, Pair } from './pair.ts'

/** What a node showed a visitor that was no longer so. */
export type Stale = { round: number; after: string; saw: unknown }

/**
 * One round: a post is published, edited and deleted through one node, and after each answer a visitor reads it on the
 * other node and on that one, from lists and by itself; all was read there before. Gives what was not as it should be.
 */
export async function changeAndRead(pair: Pair, user: TestUser, round: number): Promise<Stale[]> {
  const { writer, readers } = rolesIn(pair, round)
  const { token } = user
  const stale: Stale[] = []
  const check = (after: string, saw: unknown, expected: unknown) => {
    if (saw !== expected) stale.push({ round, after, saw })
  }

  for (const reader of readers) await newestText(reader)
  const text = `Круг ${round}`
  const post = await writer.direct.publish(user, text)
  for (const reader of readers) check('publishing', await newestText(reader), text)

  for (const reader of readers) await textOf(reader, post.id)
  const body = { text: `Круг ${round}, исправлено` }
  await writer.direct.call('PATCH', `/posts/${post.id}`, { token, body })
  for (const reader of readers) {
    check('editing', await textOf(reader, post.id), body.text)
    check('editing', await newestText(reader), body.text)
  }

  await writer.direct.call('DELETE', `/posts/${post.id}`, { token })
  for (const reader of readers) {
    check('deleting', await textOf(reader, post.id), 'POST_NOT_FOUND')
    check('deleting', (await newestText(reader)) === body.text, false)
  }
  return stale
}

/** Who writes in a round, and who reads: the other node first, which has only heard of the change. */
export function rolesIn({ nodes }: Pair, round: number): { writer: Node; readers: [Node, Node] } {
  const [one, other] = round % 2 === 0 ? nodes : [nodes[1], nodes[0]]
  return { writer: one, readers: [other, one] }
}

/** The text of the newest post on the wall, as a visitor sees it. */
export async function newestText({ direct }: Node): Promise<string | undefined> {
  return (await direct.call('GET', '/posts')).body.posts[0]?.text
}

async function textOf({ direct }: Node, id: string): Promise<string> {
  const { body } = await direct.call('GET', `/posts/${id}`)
  return body.text ?? body.code
}
