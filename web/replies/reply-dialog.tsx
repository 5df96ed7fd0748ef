import { useReadPost } from '../posts/cache/posts.queries.ts'
import { useBlockNote } from '../posts/compose/block.ts'
import { WriteDialog } from '../posts/compose/write-dialog.tsx'
import { WritingAs } from '../posts/compose/writing-as.tsx'
import { RepliedPost } from '../posts/view/post-card.tsx'

type ReplyDialogProps = { postId: string; onClose: () => void }

export function ReplyDialog({ postId, onClose }: ReplyDialogProps) {
  useReadPost(postId)
  return (
    <WriteDialog
      title="Ответ"
      target={`reply ${postId}`}
      note={useBlockNote()}
      label="Текст ответа"
      placeholder="Ваш ответ"
      onClose={onClose}
    >
      <RepliedPost id={postId} inDialog />
      <WritingAs />
    </WriteDialog>
  )
}
