import { useState } from 'react'
import { errorMessage } from '../../api/error-message.ts'
import { countdown } from '../../format/time.ts'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorRow } from '../../ui/errors.tsx'
import { Modal } from '../../ui/modal.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import type { CachedPost } from '../cache/post-cache.ts'
import { MISSING_POST, type ReadPost, useReadPost } from '../cache/use-read-post.ts'
import { useDraft } from './drafts.ts'
import { EditExpired } from './edit-expired.tsx'
import { useEdit } from './edit-post.ts'
import { PostForm } from './post-form.tsx'
import { useCloseWithDraft } from './use-post-form.ts'

type EditDialogProps = { postId: string; onClose: () => void }

/** Edits the viewer's own post while its edit period lasts. */
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

/** Keeps a post once it was read: when a session ends, everything is read again, and the form must not disappear. */
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
