import { likePost, unlikePost } from '../../../contract/likes.ts'
import type { Db } from '../../kernel/db/database.ts'
import type { Route } from '../../kernel/http/route.ts'
import type { Limit, Limits } from '../../kernel/limits/limits.ts'
import { batchLikes } from './likes.service.ts'

type Options = {
  route: Route
  db: Db
  limits: Limits
}

const LIKES: Limit = {
  name: 'like',
  rates: [[300, 86_400]],
  refusal: 'Сегодня вы поставили очень много отметок: следующая — через {time}',
}

export function registerLikes({ route, db, limits }: Options): void {
  const setLike = batchLikes(db)

  route(likePost, async ({ params: { id: postId }, viewer: { userId } }) => {
    await limits.charge([{ limit: LIKES, key: userId }])
    return { likes_count: await setLike({ postId, userId, isLiked: true }) }
  })

  route(unlikePost, async ({ params: { id: postId }, viewer: { userId } }) => ({
    likes_count: await setLike({ postId, userId, isLiked: false }),
  }))
}
