import type { QueryClient } from '@tanstack/react-query'
import { CallError, call } from '../../api/call.ts'
import { evictPost } from '../cache/list-cache.ts'

/** Deletes one's own post and takes it off every screen. Throws CallError; one that is gone already leaves the screens too. */
export async function deletePost(client: QueryClient, id: string): Promise<void> {
  try {
    await call('DELETE /posts/:id', { params: { id } })
  } catch (error) {
    if (error instanceof CallError && error.status === 404) evictPost(client, id)
    throw error
  }
  evictPost(client, id)
}
