import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { CallError } from '../../api/call.ts'
import { useToast } from '../../ui/toaster.tsx'
import type { CachedPost } from '../cache/post-cache.ts'
import { saveEdit } from './save-edit.ts'
import { useDraft } from './use-draft.ts'
import { useEditSeconds } from './use-edit-seconds.ts'
import { usePostForm } from './use-post-form.ts'

/** The form that changes a post, and whether the edit period has run out, by our count or by the server's word. */
export function useEdit(post: CachedPost, onClose: () => void) {
  const client = useQueryClient()
  const toast = useToast()
  const secondsLeft = useEditSeconds(post)
  const [refused, setRefused] = useState(false)
  const draft = useDraft(`edit ${post.id}`)

  async function send(text: string): Promise<void> {
    try {
      await saveEdit(client, { id: post.id, text })
    } catch (error) {
      if (error instanceof CallError && error.code === 'EDIT_PERIOD_EXPIRED') setRefused(true)
      throw error
    }
    toast({ text: 'Изменено' })
  }

  const form = usePostForm({
    draft,
    intent: { name: 'edit', postId: post.id },
    initialText: post.text,
    send,
    onSent: onClose,
  })
  // A text that is on its way may still arrive in time.
  const expired = refused || (secondsLeft === 0 && !form.pending)
  return { form, draft, secondsLeft, expired }
}
