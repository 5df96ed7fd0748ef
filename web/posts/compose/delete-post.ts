import type { QueryClient } from '@tanstack/react-query'
import { CallError, call } from '../../api/call.ts'
import { removeFromLists } from '../cache/list-cache.ts'
import { buryPost, changePost, readCachedPost } from '../cache/post-cache.ts'

/** Deletes one's own post and takes it off every screen. Throws CallError; one that is gone already leaves the screens too. */
export async function deletePost(client: QueryClient, id: string): Promise<void> {
  try {
    await call('DELETE /posts/:id', { params: { id } })
  } catch (error) {
    if (error instanceof CallError && error.status === 404) forgetPost(client, id)
    throw error
  }
  forgetPost(client, id)
}

/** Takes a post that exists no more off every screen; quotes of it turn into a placeholder. */
export function forgetPost(client: QueryClient, id: string): void {
  const answeredId = readCachedPost(client, id)?.actions.replied_post_id
  if (answeredId) changePost(client, answeredId, withOneReplyLess)
  buryPost(client, id)
  removeFromLists(client, id)
}

function withOneReplyLess<P extends { actions: { replies_count: number } }>(post: P): P {
  const replies_count = Math.max(0, post.actions.replies_count - 1)
  return { ...post, actions: { ...post.actions, replies_count } }
}
