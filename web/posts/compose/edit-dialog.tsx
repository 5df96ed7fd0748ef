import { EMPTY_POST_BODY } from '../../../contract/post-rules.ts'
import { countdown } from '../../format/time.ts'
import { Read } from '../../http/read.tsx'
import { Modal } from '../../ui/overlay/modal.tsx'
import { EmptyState } from '../../ui/states/empty-state.tsx'
import { Skeleton } from '../../ui/states/skeleton.tsx'
import type { CachedPost } from '../cache/post-cache.ts'
import { MISSING_POST, useReadPost } from '../cache/posts.queries.ts'
import { useEditSeconds } from '../view/post-time.tsx'
import { hasCode } from './compose.queries.ts'
import { useDraft } from './drafts.ts'
import { EditExpired } from './edit-expired.tsx'
import { PostForm, useCloseWithDraft, usePostForm } from './post-form.tsx'
import { isSame } from './written.ts'

type EditDialogProps = { postId: string; onClose: () => void }

export function EditDialog({ postId, onClose }: EditDialogProps) {
  const close = useCloseWithDraft(useDraft(`edit ${postId}`), onClose)
  const read = useReadPost(postId)
  const isReply = read.data && read.data.actions.replied_post_id !== null
  return (
    <Modal title={isReply ? 'Изменение ответа' : 'Изменение записи'} isLarge onClose={close}>
      <Read query={read} loading={<Skeleton label="Загружаем запись" />} inRow>
        {(post) => <EditForm postId={postId} post={post} onClose={onClose} />}
      </Read>
    </Modal>
  )
}

/**
 * Shows the form until the edit period ends by the countdown or by the server's answer. Without the
 * post, only takes a refused text back into the draft.
 */
function EditForm({ postId, post, onClose }: EditDialogProps & { post: CachedPost | null }) {
  const secondsLeft = useEditSeconds(post ?? { created_at: 0 })
  const draft = useDraft(`edit ${postId}`)
  const form = usePostForm({ draft, initial: post ?? EMPTY_POST_BODY, onSent: onClose })
  if (!post) return <EmptyState {...MISSING_POST} />

  const label = post.actions.replied_post_id === null ? 'Текст записи' : 'Текст ответа'
  const isRefused = hasCode(form.sendError, 'EDIT_PERIOD_EXPIRED')
  // A text that is being sent may still arrive before the period ends on the server.
  if (isRefused || (secondsLeft === 0 && !form.isPending)) {
    return (
      <EditExpired
        postId={postId}
        label={label}
        unsaved={isSame(form.written, post) ? null : form.written}
        draft={draft}
        onClose={onClose}
      />
    )
  }
  return (
    <PostForm
      form={form}
      submitLabel="Сохранить"
      label={label}
      placeholder={label}
      note={`Осталось ${countdown(secondsLeft)}`}
    />
  )
}
