import { useRemovedPosts } from '../../posts/cache/moderated.queries.ts'
import { WriteDialog } from '../../posts/compose/write-dialog.tsx'
import { classes } from '../../ui/classes.ts'
import styles from './removed-posts.module.css'
import { RemovedText } from './removed-posts.tsx'

type AppealDialogProps = { postId: string; onClose: () => void }

export function AppealDialog({ postId, onClose }: AppealDialogProps) {
  const removed = useRemovedPosts().data?.posts.find(({ id }) => id === postId)
  return (
    <WriteDialog
      title="Обжалование"
      target={`appeal ${postId}`}
      submitLabel="Отправить"
      label="Текст обжалования"
      placeholder="Почему запись не нарушает правил?"
      note="Обжаловать решение можно один раз."
      onClose={onClose}
    >
      {removed && (
        <div className={classes('quoted stack', styles.quote)}>
          <RemovedText post={removed} />
        </div>
      )}
    </WriteDialog>
  )
}
