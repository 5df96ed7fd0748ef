import { useQueryClient } from '@tanstack/react-query'
import { call } from '../../http/call.ts'
import { CallError } from '../../http/call-error.ts'
import { OWN_TEXT, useDraft } from '../../posts/compose/drafts.ts'
import { PostForm, useCloseWithDraft, usePostForm } from '../../posts/compose/post-form.tsx'
import { Modal } from '../../ui/modal.tsx'
import { toast } from '../../ui/toaster.tsx'
import styles from './removed-posts.module.css'
import { REMOVED_POSTS, RemovedText, useRemovedPosts } from './removed-posts.tsx'

type AppealDialogProps = { postId: string; onClose: () => void }

/** The text stays a draft until it was sent. */
export function AppealDialog({ postId, onClose }: AppealDialogProps) {
  const client = useQueryClient()
  const removed = useRemovedPosts().data?.posts.find(({ id }) => id === postId)
  const draft = useDraft(`appeal ${postId}`)
  const form = usePostForm({
    draft,
    intent: { name: 'appeal', postId },
    initialText: '',
    send: async (text) => {
      await sendAppeal(postId, text)
      toast({ text: 'Отправлено модератору' }, { about: [OWN_TEXT] })
      void client.invalidateQueries({ queryKey: REMOVED_POSTS })
    },
    onSent: onClose,
  })
  return (
    <Modal title="Обжалование" phone="full" onClose={useCloseWithDraft(draft, onClose)}>
      {removed && (
        <div className={styles.quote}>
          <RemovedText post={removed} />
        </div>
      )}
      <PostForm
        form={form}
        submitLabel="Отправить"
        label="Текст обжалования"
        placeholder="Почему запись не нарушает правил?"
        note="Обжаловать решение можно один раз."
      />
    </Modal>
  )
}

/**
 * An appeal whose answer was lost is there already: the second attempt is refused, and that is as
 * good. Throws CallError.
 */
async function sendAppeal(id: string, text: string): Promise<void> {
  try {
    await call('POST /users/current/removed-posts/:id/appeal', { params: { id }, body: { text } })
  } catch (error) {
    if (!(error instanceof CallError) || error.code !== 'ALREADY_APPEALED') throw error
  }
}
