import { useReadPost } from '../posts/cache/posts.queries.ts'
import { useBlockNote } from '../posts/compose/block.ts'
import { useDraft } from '../posts/compose/drafts.ts'
import { PostForm, useCloseWithDraft, usePostForm } from '../posts/compose/post-form.tsx'
import { WritingAs } from '../posts/compose/writing-as.tsx'
import { RepliedPost } from '../posts/view/post-card.tsx'
import { Modal } from '../ui/modal.tsx'

type ReplyDialogProps = { postId: string; onClose: () => void }

export function ReplyDialog({ postId, onClose }: ReplyDialogProps) {
  useReadPost(postId)
  const draft = useDraft(`reply ${postId}`)
  const form = usePostForm({ draft, initialText: '', onSent: onClose })
  const close = useCloseWithDraft(draft, onClose)
  return (
    <Modal title="Ответ" phone="full" onClose={close}>
      <RepliedPost id={postId} inDialog />
      <WritingAs />
      <PostForm
        form={form}
        note={useBlockNote()}
        submitLabel="Опубликовать"
        placeholder="Ваш ответ"
      />
    </Modal>
  )
}
