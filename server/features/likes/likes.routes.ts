import { likePost, unlikePost } from '../../../contract/likes.ts'
import type { Feature, Node } from '../../kernel/feature.ts'
import type { Limit } from '../../kernel/limits/limits.ts'
import { batchLikes, moveLikes } from './likes.service.ts'

const LIKES: Limit = {
  name: 'like',
  rates: [[300, 86_400]],
  refusal: 'Сегодня вы поставили очень много отметок: следующая — через {time}',
}

export function registerLikes({ route, db, background, limits }: Node): Feature {
  const setLike = batchLikes(db)

  route(likePost, async ({ params: { id: postId }, viewer: { userId } }) => {
    await limits.charge([{ limit: LIKES, key: userId }])
    return { likes_count: await setLike({ postId, userId, isLiked: true }) }
  })

  route(unlikePost, async ({ params: { id: postId }, viewer: { userId } }) => ({
    likes_count: await setLike({ postId, userId, isLiked: false }),
  }))

  return {
    jobs: {
      'move-likes': { everyMinutes: 1, run: (_, { stopping }) => moveLikes(background, stopping) },
    },
  }
}
