import { likePost, unlikePost } from '../../contract/likes.ts'
import type { Features } from '../features.ts'
import { createLikeQueue, type LikeWish } from './like-batches.ts'

export function registerLikes({ route, db, limits, changed }: Features): void {
  const setLike = createLikeQueue(db, () => changed('likes'))

  route(likePost, async ({ params, viewer }) => {
    await limits.likes.charge(viewer.userId)
    return setLikeOf(params.id, { userId: viewer.userId, likes: true })
  })

  route(unlikePost, ({ params, viewer }) =>
    setLikeOf(params.id, { userId: viewer.userId, likes: false }),
  )

  async function setLikeOf(postId: string, wish: LikeWish) {
    return { likes_count: await setLike(postId, wish) }
  }
}
