import { useState } from 'react'
import { countdown } from '../../format/time.ts'
import { errorMessage } from '../../http/error-message.ts'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorRow } from '../../ui/errors.tsx'
import { Modal } from '../../ui/modal.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import type { CachedPost } from '../cache/post-cache.ts'
import { MISSING_POST, type ReadPost, useReadPost } from '../cache/posts.queries.ts'
import { useEditSeconds } from '../view/post-time.tsx'
import { hasCode } from './compose.queries.ts'
import { useDraft } from './drafts.ts'
import { EditExpired } from './edit-expired.tsx'
import { PostForm, useCloseWithDraft, usePostForm } from './post-form.tsx'

type EditDialogProps = { postId: string; onClose: () => void }

export function EditDialog({ postId, onClose }: EditDialogProps) {
  const close = useCloseWithDraft(useDraft(`edit ${postId}`), onClose)
  const read = useLastRead(useReadPost(postId))
  const isReply = read.state === 'ready' && read.post.actions.replied_post_id !== null
  return (
    <Modal title={isReply ? 'Изменение ответа' : 'Изменение записи'} phone="full" onClose={close}>
      {read.state === 'ready' && <EditForm post={read.post} onClose={onClose} />}
      {read.state === 'loading' && <Skeleton label="Загружаем запись" />}
      {read.state === 'missing' && <EmptyState {...MISSING_POST} />}
      {read.state === 'failed' && <ErrorRow text={errorMessage(read.error)} onRetry={read.retry} />}
    </Modal>
  )
}

/** When a session ends, everything is read again, and the form must not disappear. */
function useLastRead(read: ReadPost): ReadPost {
  const [last, setLast] = useState<CachedPost>()
  if (read.state === 'ready' && read.post !== last) setLast(read.post)
  const isGone = read.state === 'loading' || read.state === 'failed'
  return last && isGone ? { state: 'ready', post: last } : read
}

function EditForm({ post, onClose }: { post: CachedPost; onClose: () => void }) {
  const { form, draft, secondsLeft, isExpired } = useEdit(post, onClose)
  if (isExpired) {
    return (
      <EditExpired
        postId={post.id}
        typed={form.typed === post.text ? null : form.typed}
        draft={draft}
        onClose={onClose}
      />
    )
  }
  return (
    <PostForm
      form={form}
      submitLabel="Сохранить"
      placeholder="Текст записи"
      note={`Осталось ${countdown(secondsLeft)}`}
    />
  )
}

/** The edit period may end by the countdown here or by the server's answer. */
function useEdit(post: CachedPost, onClose: () => void) {
  const secondsLeft = useEditSeconds(post)
  const draft = useDraft(`edit ${post.id}`)
  const form = usePostForm({ draft, initialText: post.text, onSent: onClose })
  const isRefused = hasCode(form.sendError, 'EDIT_PERIOD_EXPIRED')
  // A text that is being sent may still arrive before the period ends on the server.
  const isExpired = isRefused || (secondsLeft === 0 && !form.isPending)
  return { form, draft, secondsLeft, isExpired }
}
