import { Modal } from '../../ui/modal.tsx'
import { useBlockNote } from './block.ts'
import { useDraft } from './drafts.ts'
import { PostForm, useCloseWithDraft, usePostForm } from './post-form.tsx'
import { WritingAs } from './writing-as.tsx'

export function NewPostDialog({ onClose }: { onClose: () => void }) {
  const draft = useDraft('new')
  const form = usePostForm({ draft, initialText: '', onSent: onClose })
  const close = useCloseWithDraft(draft, onClose)
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
