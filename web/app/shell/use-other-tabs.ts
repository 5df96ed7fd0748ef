import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { showConfirmedLike } from '../../likes/like-post.ts'
import { evictPost } from '../../posts/cache/list-cache.ts'
import { putPosts, readCachedPost } from '../../posts/cache/post-cache.ts'
import { onPostChange, type PostChange } from '../../viewer/post-channel.ts'

/** Shows on this page what the viewer does to posts in other tabs. Used once for the whole app. */
export function useOtherTabs(): void {
  const client = useQueryClient()
  useEffect(() => onPostChange((change) => showChange(client, change)), [client])
}

function showChange(client: QueryClient, change: PostChange): void {
  const id = change.name === 'edited' ? change.post.id : change.postId
  // A post that this page has not read yet will be read as it is by then.
  if (!readCachedPost(client, id)) return
  if (change.name === 'liked') showConfirmedLike(client, id, change.likes)
  else if (change.name === 'edited') putPosts(client, [change.post])
  else evictPost(client, id)
}
