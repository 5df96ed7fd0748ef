import { postPath } from '../../../contract/pages.ts'
import type { Post } from '../../../contract/posts.ts'
import { call } from '../../http/call.ts'
import { CallError, fallBackOn } from '../../http/call-error.ts'
import { queryClient } from '../../http/query-client.ts'
import { write } from '../../session/write.ts'
import type { Toast } from '../../ui/overlay/toaster.tsx'
import { addToLists, evictPost } from '../cache/list-cache.ts'
import { REMOVED_POSTS } from '../cache/moderated.queries.ts'
import { nextVersion, putPosts } from '../cache/post-cache.ts'
import { announcePostChange } from '../cache/post-channel.ts'
import { publishedInDialog } from '../cache/published.ts'
import { type Kind, parseTarget, type Text } from './stored-texts.ts'
import { isSame, writtenOf } from './written.ts'

type Send = (text: Text, postId: string) => Promise<Toast>
type ReplyCall = 'POST /posts/:id/replies' | 'POST /posts/:id/clarification'

const SEND: Record<Kind, Send> = {
  new: publishPost,
  reply: (text, id) => publishReply(text, id, 'POST /posts/:id/replies'),
  edit: saveEdit,
  clarify: (text, id) => publishReply(text, id, 'POST /posts/:id/clarification'),
  appeal: sendAppeal,
}

/** Sends a text, only as its author. Returns the toast about the result. Throws CallError. */
export async function sendText(text: Text): Promise<Toast> {
  const { kind, postId } = parseTarget(text.target)
  return SEND[kind](text, postId)
}

async function publishPost(text: Text): Promise<Toast> {
  const { by } = text
  const post = await write('POST /posts', onceSent(text), { by })
  putPosts([post])
  publishedId = post.id
  addToLists(['wall', `author ${by}`], post.id)
  return publishedToast(post)
}

async function publishReply(text: Text, id: string, call: ReplyCall): Promise<Toast> {
  const { by } = text
  const post = await write(call, { params: { id }, ...onceSent(text) }, { by })
  putPosts([post])
  addToLists([`replies ${id}`, `authorReplies ${by}`], post.id)
  const isClarification = post.id === post.actions.replied_post?.clarification?.id
  // Other tabs show the clarification of the replied post. It is no card of a list.
  if (isClarification) announcePostChange({ name: 'edited', post })
  else publishedId = post.id
  return publishedToast(post)
}

/** Takes the clarification from under a post; it stays a reply. Throws CallError. */
export async function removeClarification(id: string): Promise<void> {
  const post = await write('DELETE /posts/:id/clarification', { params: { id } })
  putPosts([post])
  announcePostChange({ name: 'edited', post })
}

/** All attempts to send a text have the same key, so that the server takes it once. */
function onceSent(text: Text) {
  const headers = { 'idempotency-key': text.sent?.key ?? text.id }
  return { headers, body: writtenOf(text) }
}

let publishedId: string | null = null

function publishedToast({ id }: Post): Toast {
  return { text: 'Опубликовано', link: { label: 'Смотреть', to: postPath(id) } }
}

/** Lets the list on the page focus the post that was published last, once: not after an appeal. */
export function offerFocus(): void {
  publishedInDialog.set(publishedId)
  publishedId = null
}

async function saveEdit(edit: Text, id: string): Promise<Toast> {
  const input = { params: { id }, body: writtenOf(edit) }
  try {
    const post = await write('PATCH /posts/:id', input, { by: edit.by })
    putPosts([post])
    announcePostChange({ name: 'edited', post })
  } catch (error) {
    // If an earlier answer was lost, the text may be saved already, and a repeated edit is refused.
    const mayBeSaved = hasCode(error, 'INVALID_REQUEST') || hasCode(error, 'EDIT_PERIOD_EXPIRED')
    if (!mayBeSaved || !isSame(await rereadPost(id), edit)) throw error
  }
  return { text: 'Изменено' }
}

async function rereadPost(id: string): Promise<Post> {
  const version = nextVersion()
  const post = await call('GET /posts/:id', { params: { id } })
  putPosts([post], version)
  return post
}

async function sendAppeal({ text, by }: Text, id: string): Promise<Toast> {
  const input = { params: { id }, body: { text } }
  try {
    await write('POST /users/current/removed-posts/:id/appeal', input, { by })
  } catch (error) {
    // If an earlier answer was lost, the appeal is there already.
    if (!hasCode(error, 'ALREADY_APPEALED')) throw error
  }
  void queryClient.invalidateQueries({ queryKey: REMOVED_POSTS })
  return { text: 'Отправлено модератору' }
}

/** Deletes a post. Returns false if it was already deleted. Throws CallError. */
export async function deletePost(id: string): Promise<boolean> {
  const deletion = write('DELETE /posts/:id', { params: { id } }).then(() => true)
  const existed = await fallBackOn(404, deletion, false)
  evictPost(id)
  announcePostChange({ name: 'deleted', postId: id })
  return existed
}

export function hasCode(error: unknown, code: CallError['code']): boolean {
  return error instanceof CallError && error.code === code
}
