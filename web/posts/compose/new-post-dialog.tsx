import { Modal } from '../../ui/modal.tsx'
import { PostForm } from './post-form.tsx'
import { usePublish } from './publish-post.ts'
import { useDraft } from './use-draft.ts'
import { usePostForm } from './use-post-form.ts'

/** Writes a post for the wall. */
export function NewPostDialog({ onClose }: { onClose: () => void }) {
  const form = usePostForm({
    draft: useDraft('new'),
    intent: { name: 'new-post' },
    initialText: '',
    send: usePublish(null),
    onSent: onClose,
  })
  return (
    <Modal title="Новая запись" phone="full" onClose={onClose}>
      <PostForm form={form} submitLabel="Опубликовать" placeholder="О чём скажете вслух?" />
    </Modal>
  )
}
