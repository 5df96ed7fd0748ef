import type { QueryClient } from '@tanstack/react-query'
import type { Post } from '../../../contract/posts.ts'
import { call } from '../../api/call.ts'
import { addToLists, type ListName } from '../cache/list-cache.ts'
import { putPosts } from '../cache/post-cache.ts'

type Publication = {
  text: string
  /** The same for every attempt to send this text: the server publishes it once. */
  submission: string
  /** The post answered, or null for a post on the wall. */
  repliedPostId: string | null
}

/** Publishes a post or a reply and puts it first in the lists it belongs to. Throws CallError. */
export async function publishPost(client: QueryClient, publication: Publication): Promise<Post> {
  const post = await send(publication)
  putPosts(client, [post])
  addToLists(client, listsOf(publication.repliedPostId), post.id)
  return post
}

function send({ text, submission, repliedPostId }: Publication): Promise<Post> {
  const parts = { headers: { 'idempotency-key': submission }, body: { text } }
  return repliedPostId === null
    ? call('POST /posts', parts)
    : call('POST /posts/:id/replies', { params: { id: repliedPostId }, ...parts })
}

function listsOf(repliedPostId: string | null): ListName[] {
  return repliedPostId === null
    ? ['wall', 'own-posts']
    : [`replies ${repliedPostId}`, 'own-replies']
}
