import Type, { type Static } from 'typebox'

/** The newest post that was added to the wall, and its author. */
const NewestPost = Type.Object({ id: Type.String(), by: Type.String() })

/**
 * A change of what posts show. Likes are no change. An edit or a removal is of any post unless it
 * has a `postId`.
 */
export const Change = Type.Union([
  Type.Object({
    kind: Type.Literal('added'),
    newest: Type.Optional(NewestPost),
    /** What the added replies answer: users by their ids, and `<post>:<reply>:<author>`. */
    answered: Type.Array(Type.String()),
  }),
  Type.Object({
    kind: Type.Union([Type.Literal('edited'), Type.Literal('removed')]),
    postId: Type.Optional(Type.String()),
  }),
])

export type NewestPost = Static<typeof NewestPost>
export type Change = Static<typeof Change>

/**
 * Ends the cached responses that a change makes stale, on every node. Call it after the commit, and
 * await it before the response. Never rejects.
 */
export type PublishChange = (change: Change) => Promise<void>
