import { likePost, unlikePost } from '../../contract/likes.ts'
import type { Queryable } from '../db/open.ts'
import type { Features } from '../features.ts'
import { addToLikesCount, lockForLikes } from '../posts/posts.ts'
import { deleteLikes, insertLikes } from './likes.store.ts'

export function registerLikes({ route, db, limits }: Features): void {
  route(likePost, async ({ params, viewer }) => {
    await limits.likes.charge(viewer.userId)
    return changeLikes(params.id, (tx) => insertLikes(tx, params.id, [viewer.userId]))
  })

  route(unlikePost, ({ params, viewer }) =>
    changeLikes(params.id, async (tx) => -(await deleteLikes(tx, params.id, [viewer.userId]))),
  )

  function changeLikes(postId: string, change: (tx: Queryable) => Promise<number>) {
    return db.transaction().execute(async (tx) => {
      await lockForLikes(tx, postId)
      return { likes_count: await addToLikesCount(tx, postId, await change(tx)) }
    })
  }
}
