import { useBlockNote } from '../../session/block.ts'
import { Modal } from '../../ui/modal.tsx'
import { PostForm, useCloseWithDraft } from './post-form.tsx'
import { usePublishForm } from './publish-post.ts'
import { WritingAs } from './writing-as.tsx'

export function NewPostDialog({ onClose }: { onClose: () => void }) {
  const { draft, form } = usePublishForm(null, onClose)
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
