import type { QueryClient } from '@tanstack/react-query'
import { postPath } from '../../../contract/pages.ts'
import type { Post } from '../../../contract/posts.ts'
import { call } from '../../http/call.ts'
import { CallError, fallBackOn } from '../../http/call-error.ts'
import { write } from '../../http/write.ts'
import { toast } from '../../ui/toaster.tsx'
import { addToLists, evictPost } from '../cache/list-cache.ts'
import { nextVersion, putPosts } from '../cache/post-cache.ts'
import { announcePostChange } from '../cache/post-channel.ts'
import { OWN_TEXT } from './drafts.ts'
import type { DraftTarget } from './stored-drafts.ts'

/** All attempts to send a text have the same key, so that the server takes it once. */
export type SubmittedText = { key: string; by: string; target: DraftTarget; text: string }

/** Sends a text, only as its author, and shows the result. Throws CallError. */
export async function sendText(client: QueryClient, text: SubmittedText): Promise<void> {
  const [kind, id = ''] = text.target.split(' ')
  if (kind === 'edit') return saveEdit(client, id, text)
  if (kind === 'appeal') return sendAppeal(id, text)
  const parts = { headers: { 'idempotency-key': text.key }, body: { text: text.text } }
  const { by } = text
  if (kind === 'reply') {
    const post = await write('POST /posts/:id/replies', { params: { id }, ...parts }, { by })
    showPublished(client, post)
    addToLists(client, [`replies ${id}`, `replies-of ${by}`], post.id)
  } else {
    const post = await write('POST /posts', parts, { by })
    showPublished(client, post)
    addToLists(client, ['wall', `posts-of ${by}`], post.id)
  }
}

function showPublished(client: QueryClient, post: Post): void {
  putPosts(client, [post])
  const link = { label: 'Смотреть', to: postPath(post.id) }
  toast({ text: 'Опубликовано', link }, { about: [OWN_TEXT, `post ${post.id}`] })
}

async function saveEdit(client: QueryClient, id: string, { text, by }: SubmittedText) {
  try {
    const post = await write('PATCH /posts/:id', { params: { id }, body: { text } }, { by })
    putPosts(client, [post])
    announcePostChange({ name: 'edited', post })
  } catch (error) {
    // If an earlier answer was lost, the text may be saved already, and a repeated edit is refused.
    const mayBeSaved = hasCode(error, 'INVALID_REQUEST') || hasCode(error, 'EDIT_PERIOD_EXPIRED')
    if (!mayBeSaved || (await readText(client, id)) !== text) throw error
  }
  toast({ text: 'Изменено' }, { about: [OWN_TEXT, `post ${id}`] })
}

async function readText(client: QueryClient, id: string): Promise<string> {
  const version = nextVersion()
  const post = await call('GET /posts/:id', { params: { id } })
  putPosts(client, [post], version)
  return post.text
}

async function sendAppeal(id: string, { text, by }: SubmittedText): Promise<void> {
  const input = { params: { id }, body: { text } }
  try {
    await write('POST /users/current/removed-posts/:id/appeal', input, { by })
  } catch (error) {
    // If an earlier answer was lost, the appeal is there already.
    if (!hasCode(error, 'ALREADY_APPEALED')) throw error
  }
  toast({ text: 'Отправлено модератору' }, { about: [OWN_TEXT] })
}

/** Returns false for a post that was already deleted. Throws CallError. */
export async function deletePost(client: QueryClient, id: string): Promise<boolean> {
  const deletion = write('DELETE /posts/:id', { params: { id } }).then(() => true)
  const existed = await fallBackOn(404, deletion, false)
  evictPost(client, id)
  announcePostChange({ name: 'deleted', postId: id })
  return existed
}

export function hasCode(error: unknown, code: CallError['code']): boolean {
  return error instanceof CallError && error.code === code
}
