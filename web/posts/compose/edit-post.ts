import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { call } from '../../api/call.ts'
import { CallError } from '../../api/call-error.ts'
import { useToast } from '../../ui/toaster.tsx'
import { announcePostChange } from '../../viewer/post-channel.ts'
import { type CachedPost, putPosts, startRead } from '../cache/post-cache.ts'
import { useEditSeconds } from '../view/post-time.tsx'
import { useDraft } from './drafts.ts'
import { usePostForm } from './use-post-form.ts'

/** The form that edits a post, and whether the edit period is over, by the countdown here or by the server's answer. */
export function useEdit(post: CachedPost, onClose: () => void) {
  const client = useQueryClient()
  const toast = useToast()
  const secondsLeft = useEditSeconds(post)
  const draft = useDraft(`edit ${post.id}`)
  const form = usePostForm({
    draft,
    intent: { name: 'edit', postId: post.id },
    initialText: post.text,
    send: async (text) => {
      await saveEdit(client, { id: post.id, text })
      toast({ text: 'Изменено' })
    },
    onSent: onClose,
  })
  const isRefused = hasCode(form.sendError, 'EDIT_PERIOD_EXPIRED')
  // A text that is being sent may still arrive before the period ends on the server.
  const isExpired = isRefused || (secondsLeft === 0 && !form.isPending)
  return { form, draft, secondsLeft, isExpired }
}

type Edit = { id: string; text: string }

/** Changes the text of a post on every screen. Throws CallError. */
async function saveEdit(client: QueryClient, edit: Edit): Promise<void> {
  try {
    const params = { id: edit.id }
    const post = await call('PATCH /posts/:id', { params, body: { text: edit.text } })
    putPosts(client, [post])
    announcePostChange({ name: 'edited', post })
  } catch (error) {
    if (!mayBeSaved(error) || !(await isSaved(client, edit))) throw error
  }
}

/** If an earlier answer was lost, the text may be saved already: then the server refuses it as no change, or as too late. */
function mayBeSaved(error: unknown): boolean {
  return hasCode(error, 'INVALID_REQUEST') || hasCode(error, 'EDIT_PERIOD_EXPIRED')
}

async function isSaved(client: QueryClient, { id, text }: Edit): Promise<boolean> {
  const version = startRead()
  const post = await call('GET /posts/:id', { params: { id } })
  putPosts(client, [post], version)
  return post.text === text
}

function hasCode(error: unknown, code: CallError['code']): boolean {
  return error instanceof CallError && error.code === code
}
