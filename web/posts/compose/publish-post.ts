import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { postPath } from '../../../contract/pages.ts'
import type { Post } from '../../../contract/posts.ts'
import { write } from '../../http/write.ts'
import { toast } from '../../ui/toaster.tsx'
import { addToLists, type ListName } from '../cache/list-cache.ts'
import { putPosts } from '../cache/post-cache.ts'
import { OWN_TEXT, useDraft } from './drafts.ts'
import { usePostForm } from './post-form.tsx'

type NewPost = {
  text: string
  /** Every attempt to send a text has the same key, so that the server publishes it once. */
  submissionKey: string
  repliedPostId: string | null
  userId: string
}

/** The form of a new post, or of a reply. */
export function usePublishForm(repliedPostId: string | null, onSent?: () => void) {
  const isReply = repliedPostId !== null
  const draft = useDraft(isReply ? `reply ${repliedPostId}` : 'new')
  const form = usePostForm({
    draft,
    intent: isReply ? { name: 'reply', postId: repliedPostId } : { name: 'new-post' },
    initialText: '',
    send: usePublish(repliedPostId, draft.userId),
    isRepeatable: true,
    onSent,
  })
  return { draft, form }
}

/** The text is published as written by `userId` or not at all. Throws CallError. */
export function usePublish(repliedPostId: string | null, userId: string) {
  const client = useQueryClient()

  return async (text: string, submissionKey: string): Promise<void> => {
    const post = await publishPost(client, { text, submissionKey, repliedPostId, userId })
    toast(
      { text: 'Опубликовано', link: { label: 'Смотреть', to: postPath(post.id) } },
      { about: [OWN_TEXT, `post ${post.id}`] },
    )
  }
}

async function publishPost(client: QueryClient, newPost: NewPost): Promise<Post> {
  const post = await sendPost(newPost)
  putPosts(client, [post])
  addToLists(client, listsOf(newPost), post.id)
  return post
}

function sendPost({ text, submissionKey, repliedPostId, userId }: NewPost): Promise<Post> {
  const parts = { headers: { 'idempotency-key': submissionKey }, body: { text } }
  return repliedPostId === null
    ? write('POST /posts', parts, { by: userId })
    : write('POST /posts/:id/replies', { params: { id: repliedPostId }, ...parts }, { by: userId })
}

function listsOf({ repliedPostId, userId }: NewPost): ListName[] {
  return repliedPostId === null
    ? ['wall', `posts-of ${userId}`]
    : [`replies ${repliedPostId}`, `replies-of ${userId}`]
}
