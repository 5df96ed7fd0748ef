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
import { EditExpired } from './edit-expired.tsx'
import { type OpenText, useText } from './open-text.ts'
import { PostForm, useCloseWithDraft, usePostForm } from './post-form.tsx'
import { isSame } from './written.ts'

type EditDialogProps = { postId: string; onClose: () => void }

export function EditDialog({ postId, onClose }: EditDialogProps) {
  const text = useText(`edit ${postId}`)
  const close = useCloseWithDraft(text, onClose)
  const read = useReadPost(postId)
  const isReply = read.data && read.data.actions.replied_post_id !== null
  return (
    <Modal title={isReply ? 'Изменение ответа' : 'Изменение записи'} isLarge onClose={close}>
      <Read query={read} loading={<Skeleton label="Загружаем запись" />} inRow>
        {(post) => <EditForm postId={postId} post={post} text={text} onClose={onClose} />}
      </Read>
    </Modal>
  )
}

type EditFormProps = EditDialogProps & { post: CachedPost | null; text: OpenText }

/**
 * Shows the form until the edit period ends by the countdown or by the server's answer. Without the
 * post, only makes a refused text a draft again.
 */
function EditForm({ postId, post, text, onClose }: EditFormProps) {
  const secondsLeft = useEditSeconds(post ?? { created_at: 0 })
  const form = usePostForm({ text, initial: post ?? EMPTY_POST_BODY, onSent: onClose })
  if (!post) return <EmptyState {...MISSING_POST} />

  const label = post.actions.replied_post_id === null ? 'Текст записи' : 'Текст ответа'
  const isRefused = hasCode(form.sendError, 'EDIT_PERIOD_EXPIRED')
  // An edit that is being sent may still arrive before the period ends on the server.
  const isSaving = form.isPending && form.target === `edit ${postId}`
  if (isRefused || (secondsLeft === 0 && !isSaving)) {
    return (
      <EditExpired
        postId={postId}
        label={label}
        form={isSame(form.written, post) ? null : form}
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
      isNoteTicking
    />
  )
}
