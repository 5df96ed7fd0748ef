import { likePost, unlikePost } from '../../../contract/likes.ts'
import type { Db } from '../../kernel/db/database.ts'
import type { Route } from '../../kernel/http/route.ts'
import type { Limits } from '../../kernel/limits/rate-limits.ts'
import { batchLikes } from './likes.service.ts'

type Options = {
  route: Route
  db: Db
  limits: Pick<Limits, 'likes'>
}

export function registerLikes({ route, db, limits }: Options): void {
  const setLike = batchLikes(db)

  route(likePost, async ({ params: { id: postId }, viewer: { userId } }) => {
    await limits.likes.charge(userId)
    return { likes_count: await setLike({ postId, userId, isLiked: true }) }
  })

  route(unlikePost, async ({ params: { id: postId }, viewer: { userId } }) => ({
    likes_count: await setLike({ postId, userId, isLiked: false }),
  }))
}
