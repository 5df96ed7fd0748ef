import * as calls from '../../../contract/likes.ts'
import { isRowId, type SharedWrites, writeShared } from '../../kernel/db/database.ts'
import { AppError } from '../../kernel/errors/app-error.ts'
import type { Limit } from '../../kernel/limits/limits.ts'
import type { BackgroundWork, ServerContext } from '../../kernel/server-context.ts'
import { addLike, type Like, removeLike } from './likes.repository.ts'
import { purgePosts } from './likes.service.ts'

const LIKES: Limit = {
  name: 'like',
  rates: [[300, 86_400]],
  refusal: 'Сегодня вы поставили очень много отметок: следующая — через {time}',
}

export function registerLikes(context: ServerContext): BackgroundWork {
  const { route, background, limits } = context

  route(calls.likePost, async ({ params: { id: postId }, viewer: { userId } }) => {
    const charges = [{ limit: LIKES, key: userId }]
    await limits.charge(charges)
    try {
      return { likes_count: await setLike(context, addLike, { postId, userId }) }
    } catch (error) {
      await limits.refund(charges)
      throw error
    }
  })

  route(calls.unlikePost, async ({ params: { id: postId }, viewer: { userId } }) => ({
    likes_count: await setLike(context, removeLike, { postId, userId }),
  }))

  return { jobs: { 'purge-posts': { run: ({ stopping }) => purgePosts(background, stopping) } } }
}

/** Adds or removes a like. Returns the post's number of likes. Throws POST_NOT_FOUND. */
async function setLike(writes: SharedWrites, change: typeof addLike, like: Like): Promise<number> {
  if (!isRowId(like.postId)) throw new AppError('POST_NOT_FOUND')
  const likesCount = await writeShared(writes, (tx) => change(tx, like))
  if (likesCount === undefined) throw new AppError('POST_NOT_FOUND')
  return likesCount
}
