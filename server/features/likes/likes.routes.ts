import * as calls from '../../../contract/likes.ts'
import { isRowId } from '../../kernel/db/database.ts'
import { AppError } from '../../kernel/errors/app-error.ts'
import type { Limit } from '../../kernel/limits/limits.ts'
import type { BackgroundWork, ServerContext } from '../../kernel/server-context.ts'
import { setLike } from './likes.repository.ts'
import { purgePosts } from './likes.service.ts'

const LIKES: Limit = {
  name: 'like',
  rates: [[300, 86_400]],
  refusal: 'Сегодня вы поставили очень много отметок: следующая — через {time}',
}

export function registerLikes(context: ServerContext): BackgroundWork {
  const { route, db, background, limits, lockWaitMs } = context

  async function countAfter(like: Parameters<typeof setLike>[1]): Promise<number> {
    const likesCount = isRowId(like.postId) ? await setLike(db, like, lockWaitMs) : null
    if (likesCount === null) throw new AppError('POST_NOT_FOUND')
    return likesCount
  }

  route(calls.likePost, async ({ params: { id: postId }, viewer: { userId } }) => {
    const charges = [{ limit: LIKES, key: userId }]
    await limits.charge(charges)
    try {
      return { likes_count: await countAfter({ postId, userId, isLiked: true }) }
    } catch (error) {
      await limits.refund(charges)
      throw error
    }
  })

  route(calls.unlikePost, async ({ params: { id: postId }, viewer: { userId } }) => ({
    likes_count: await countAfter({ postId, userId, isLiked: false }),
  }))

  return { jobs: { 'purge-posts': { run: ({ stopping }) => purgePosts(background, stopping) } } }
}
