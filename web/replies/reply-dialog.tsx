import { useReadPost } from '../posts/cache/use-read-post.ts'
import { PostForm } from '../posts/compose/post-form.tsx'
import { usePublish } from '../posts/compose/publish-post.ts'
import { useDraft } from '../posts/compose/use-draft.ts'
import { usePostForm } from '../posts/compose/use-post-form.ts'
import { RepliedPost } from '../posts/view/replied-post.tsx'
import { Modal } from '../ui/modal.tsx'

type ReplyDialogProps = { postId: string; onClose: () => void }

/** Writes a reply to a post, which is shown above it. */
export function ReplyDialog({ postId, onClose }: ReplyDialogProps) {
  useReadPost(postId)
  const form = usePostForm({
    draft: useDraft(`reply ${postId}`),
    intent: { name: 'reply', postId },
    initialText: '',
    send: usePublish(postId),
    onSent: onClose,
  })
  return (
    <Modal title="Ответ" phone="full" onClose={onClose}>
      <RepliedPost id={postId} inDialog />
      <PostForm form={form} submitLabel="Опубликовать" placeholder="Ваш ответ" />
    </Modal>
  )
}
