import * as calls from '../../../contract/likes.ts'
import { BatchedCalls } from '../../kernel/db/batch-calls.ts'
import { type Db, isRowId } from '../../kernel/db/database.ts'
import { AppError } from '../../kernel/errors/app-error.ts'
import type { Feature, Node } from '../../kernel/feature.ts'
import type { Limit } from '../../kernel/limits/limits.ts'
import { addLikes, removeLikes } from './likes.repository.ts'
import { moveLikes } from './likes.service.ts'

const LIKES: Limit = {
  name: 'like',
  rates: [[300, 86_400]],
  refusal: 'Сегодня вы поставили очень много отметок: следующая — через {time}',
}

export function registerLikes({ route, db, background, limits }: Node): Feature {
  const setLike = batchLikes(db)

  route(calls.likePost, async ({ params: { id: postId }, viewer: { userId } }) => {
    const charges = [{ limit: LIKES, key: userId }]
    await limits.charge(charges)
    try {
      return { likes_count: await setLike({ postId, userId, isLiked: true }) }
    } catch (error) {
      await limits.refund(charges)
      throw error
    }
  })

  route(calls.unlikePost, async ({ params: { id: postId }, viewer: { userId } }) => ({
    likes_count: await setLike({ postId, userId, isLiked: false }),
  }))

  return {
    jobs: {
      'move-likes': { cron: '* * * * *', run: ({ stopping }) => moveLikes(background, stopping) },
    },
  }
}

type DesiredLike = { postId: string; userId: string; isLiked: boolean }

/**
 * Creates the function that sets a like and returns the post's number of likes. Likes of one post
 * share statements, so that its row is locked and flushed once. Rejects with POST_NOT_FOUND.
 */
export function batchLikes(db: Db): (like: DesiredLike) => Promise<number> {
  const batches = new Map<string, BatchedCalls<DesiredLike, number>>()
  return async (like) => {
    const key = `${like.postId} ${like.isLiked}`
    const set = (likes: DesiredLike[]) => setLikes(db, likes)
    const batch = batches.get(key) ?? new BatchedCalls(set, { failsAlone: true })
    batches.set(key, batch)
    try {
      return await batch.call(like)
    } finally {
      if (batch.isIdle()) batches.delete(key)
    }
  }
}

async function setLikes(db: Db, likes: DesiredLike[]): Promise<number[]> {
  const { postId = '', isLiked = true } = likes[0] ?? {}
  const change = isLiked ? addLikes : removeLikes
  const userIds = [...new Set(likes.map(({ userId }) => userId))]
  const likesCount = isRowId(postId) ? await change(db, postId, userIds) : undefined
  if (likesCount === undefined) throw new AppError('POST_NOT_FOUND')
  return likes.map(() => likesCount)
}
