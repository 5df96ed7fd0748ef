import type { QueryClient } from '@tanstack/react-query'
import { CallError, call } from '../../api/call.ts'
import { putPosts, startRead } from '../cache/post-cache.ts'

type Edit = { id: string; text: string }

/** Changes the text of a post on every screen. Throws CallError. */
export async function saveEdit(client: QueryClient, edit: Edit): Promise<void> {
  try {
    const params = { id: edit.id }
    putPosts(client, [await call('PATCH /posts/:id', { params, body: { text: edit.text } })])
  } catch (error) {
    if (!mayBeSaved(error) || !(await isSaved(client, edit))) throw error
  }
}

/** A text that was saved, though its answer was lost, is refused the next time: as no change, or as too late. */
function mayBeSaved(error: unknown): boolean {
  const code = error instanceof CallError ? error.code : undefined
  return code === 'INVALID_REQUEST' || code === 'EDIT_PERIOD_EXPIRED'
}

async function isSaved(client: QueryClient, { id, text }: Edit): Promise<boolean> {
  const version = startRead()
  const post = await call('GET /posts/:id', { params: { id } })
  putPosts(client, [post], version)
  return post.text === text
}
