import { useQueryClient } from '@tanstack/react-query'
import { useDraft } from '../../posts/compose/drafts.ts'
import { PostForm, useCloseWithDraft, usePostForm } from '../../posts/compose/post-form.tsx'
import { Modal } from '../../ui/modal.tsx'
import { REMOVED_POSTS, useRemovedPosts } from './appeals.queries.ts'
import styles from './removed-posts.module.css'
import { RemovedText } from './removed-posts.tsx'

type AppealDialogProps = { postId: string; onClose: () => void }

/** The text stays a draft until it was sent. */
export function AppealDialog({ postId, onClose }: AppealDialogProps) {
  const client = useQueryClient()
  const removed = useRemovedPosts().data?.posts.find(({ id }) => id === postId)
  const draft = useDraft(`appeal ${postId}`)
  const form = usePostForm({
    draft,
    initialText: '',
    onSent: () => {
      void client.invalidateQueries({ queryKey: REMOVED_POSTS })
      onClose()
    },
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
