import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { countdown } from '../../format/time.ts'
import { call } from '../../http/call.ts'
import { CallError } from '../../http/call-error.ts'
import { errorMessage } from '../../http/error-message.ts'
import { write } from '../../http/write.ts'
import { announcePostChange } from '../../session/post-channel.ts'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorRow } from '../../ui/errors.tsx'
import { Modal } from '../../ui/modal.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { toast } from '../../ui/toaster.tsx'
import { type CachedPost, nextVersion, putPosts } from '../cache/post-cache.ts'
import { MISSING_POST, type ReadPost, useReadPost } from '../cache/posts.queries.ts'
import { useEditSeconds } from '../view/post-time.tsx'
import { OWN_TEXT, useDraft } from './drafts.ts'
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
  const client = useQueryClient()
  const secondsLeft = useEditSeconds(post)
  const draft = useDraft(`edit ${post.id}`)
  const form = usePostForm({
    draft,
    intent: { name: 'edit', postId: post.id },
    initialText: post.text,
    send: async (text) => {
      await saveEdit(client, { id: post.id, text, by: draft.userId })
      toast({ text: 'Изменено' }, { about: [OWN_TEXT, `post ${post.id}`] })
    },
    onSent: onClose,
  })
  const isRefused = hasCode(form.sendError, 'EDIT_PERIOD_EXPIRED')
  // A text that is being sent may still arrive before the period ends on the server.
  const isExpired = isRefused || (secondsLeft === 0 && !form.isPending)
  return { form, draft, secondsLeft, isExpired }
}

type Edit = { id: string; text: string; by: string }

async function saveEdit(client: QueryClient, edit: Edit): Promise<void> {
  const { id, text, by } = edit
  try {
    const post = await write('PATCH /posts/:id', { params: { id }, body: { text } }, { by })
    putPosts(client, [post])
    announcePostChange({ name: 'edited', post })
  } catch (error) {
    if (!mayBeSaved(error) || !(await isSaved(client, edit))) throw error
  }
}

/** If an earlier answer was lost, the text may be saved already, and a repeated edit is refused. */
function mayBeSaved(error: unknown): boolean {
  return hasCode(error, 'INVALID_REQUEST') || hasCode(error, 'EDIT_PERIOD_EXPIRED')
}

async function isSaved(client: QueryClient, { id, text }: Edit): Promise<boolean> {
  const version = nextVersion()
  const post = await call('GET /posts/:id', { params: { id } })
  putPosts(client, [post], version)
  return post.text === text
}

function hasCode(error: unknown, code: CallError['code']): boolean {
  return error instanceof CallError && error.code === code
}
