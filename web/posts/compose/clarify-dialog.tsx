import { usePost } from '../cache/post-cache.ts'
import { useReadPost } from '../cache/posts.queries.ts'
import { RepliedPost } from '../view/post-card.tsx'
import { useBlockNote } from './block.ts'
import { WriteDialog } from './write-dialog.tsx'

type ClarifyDialogProps = { postId: string; onClose: () => void }

export function ClarifyDialog({ postId, onClose }: ClarifyDialogProps) {
  useReadPost(postId)
  const isReplaced = usePost(postId)?.clarification !== undefined
  const note = isReplaced
    ? 'Встанет на место прежнего, которое останется среди ответов.'
    : 'Встанет под записью. Заменить его можно будет через час.'
  return (
    <WriteDialog
      title="Уточнение"
      target={`clarify ${postId}`}
      note={useBlockNote() ?? note}
      label="Текст уточнения"
      placeholder="Что нужно уточнить?"
      onClose={onClose}
    >
      <RepliedPost id={postId} inDialog />
    </WriteDialog>
  )
}
