import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from 'react-router'
import { postPath } from '../../../contract/pages.ts'
import type { Post } from '../../../contract/posts.ts'
import { call } from '../../api/call.ts'
import { useToast } from '../../ui/toaster.tsx'
import { leaveDialog } from '../../viewer/dialogs.ts'
import { addToLists, type ListName } from '../cache/list-cache.ts'
import { putPosts } from '../cache/post-cache.ts'
import { OWN_TEXT } from './drafts.ts'

type NewPost = {
  text: string
  /** The same for every attempt to send this text, so that the server publishes it once. */
  submissionKey: string
  /** The post to reply to, or null for a post on the wall. */
  repliedPostId: string | null
  /** Who wrote it. */
  userId: string
}

/**
 * Returns a function that publishes a text as a post, or as a reply to `repliedPostId`, and shows a toast with a link to
 * it. Every attempt to send the same text must pass the same `submissionKey`. It is published as written by `userId` or not
 * at all. Throws CallError.
 */
export function usePublish(repliedPostId: string | null, userId: string) {
  const client = useQueryClient()
  const navigate = useNavigate()
  const toast = useToast()

  return async (text: string, submissionKey: string): Promise<void> => {
    const post = await publishPost(client, { text, submissionKey, repliedPostId, userId })
    const href = postPath(post.id)
    const onSelect = () => leaveDialog(() => void navigate(href))
    toast(
      { text: 'Опубликовано', link: { label: 'Смотреть', href, onSelect } },
      { about: [OWN_TEXT, `post ${post.id}`] },
    )
  }
}

/** Publishes a post or a reply and puts it first in the lists it belongs to. */
async function publishPost(client: QueryClient, newPost: NewPost): Promise<Post> {
  const post = await sendPost(newPost)
  putPosts(client, [post])
  addToLists(client, listsOf(newPost.repliedPostId), post.id)
  return post
}

function sendPost({ text, submissionKey, repliedPostId, userId }: NewPost): Promise<Post> {
  const parts = { headers: { 'idempotency-key': submissionKey }, body: { text } }
  return repliedPostId === null
    ? call('POST /posts', parts, { userId })
    : call('POST /posts/:id/replies', { params: { id: repliedPostId }, ...parts }, { userId })
}

function listsOf(repliedPostId: string | null): ListName[] {
  return repliedPostId === null
    ? ['wall', 'own-posts']
    : [`replies ${repliedPostId}`, 'own-replies']
}
