import { useReadPost } from '../posts/cache/posts.queries.ts'
import { useDraft } from '../posts/compose/drafts.ts'
import { PostForm, useCloseWithDraft, usePostForm } from '../posts/compose/post-form.tsx'
import { usePublish } from '../posts/compose/publish-post.ts'
import { WritingAs } from '../posts/compose/writing-as.tsx'
import { RepliedPost } from '../posts/view/post-card.tsx'
import { useBlockNote } from '../session/block.ts'
import { Modal } from '../ui/modal.tsx'

type ReplyDialogProps = { postId: string; onClose: () => void }

export function ReplyDialog({ postId, onClose }: ReplyDialogProps) {
  useReadPost(postId)
  const draft = useDraft(`reply ${postId}`)
  const close = useCloseWithDraft(draft, onClose)
  const form = usePostForm({
    draft,
    intent: { name: 'reply', postId },
    initialText: '',
    send: usePublish(postId, draft.userId),
    isRepeatable: true,
    onSent: onClose,
  })
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
