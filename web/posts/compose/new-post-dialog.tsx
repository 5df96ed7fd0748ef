import { useBlockNote } from '../../session/block.ts'
import { Modal } from '../../ui/modal.tsx'
import { useDraft } from './drafts.ts'
import { PostForm, useCloseWithDraft, usePostForm } from './post-form.tsx'
import { usePublish } from './publish-post.ts'
import { WritingAs } from './writing-as.tsx'

export function NewPostDialog({ onClose }: { onClose: () => void }) {
  const draft = useDraft('new')
  const close = useCloseWithDraft(draft, onClose)
  const form = usePostForm({
    draft,
    intent: { name: 'new-post' },
    initialText: '',
    send: usePublish(null, draft.userId),
    isRepeatable: true,
    onSent: onClose,
  })
  return (
    <Modal title="Новая запись" phone="full" onClose={close}>
      <WritingAs />
      <PostForm
        form={form}
        note={useBlockNote()}
        submitLabel="Опубликовать"
        placeholder="О чём скажете вслух?"
      />
    </Modal>
  )
}
