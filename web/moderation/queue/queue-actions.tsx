import type { QueuedPost } from '../../../contract/moderation.ts'
import { openDialog } from '../../history/history.ts'
import { errorMessage } from '../../http/error-message.ts'
import { Button } from '../../ui/button.tsx'
import { useToast } from '../../ui/toaster.tsx'
import { useDecide } from './decide.ts'
import styles from './queue-actions.module.css'

const VERDICTS: Record<QueuedPost['state'], { remove: string; keep: string }> = {
  published: { remove: 'Удалить', keep: 'Оставить' },
  hidden: { remove: 'Удалить', keep: 'Вернуть' },
  removed: { remove: 'Не возвращать', keep: 'Вернуть' },
  deleted: { remove: 'Есть нарушение', keep: 'Нарушения нет' },
}

export function QueueActions({ post }: { post: QueuedPost }) {
  const toast = useToast()
  const onError = (error: Error) => toast({ text: errorMessage(error) })
  const remove = useDecide({ post, onError })
  const keep = useDecide({ post, onError })
  const isPending = remove.isPending || keep.isPending
  const { author, id, state } = post
  return (
    <div className={styles.actions}>
      <Button
        variant="danger"
        data-act="remove"
        pending={remove.isPending}
        onClick={() => {
          if (!isPending) remove.mutate({ verdict: 'remove' })
        }}
      >
        {VERDICTS[state].remove}
      </Button>
      <Button
        data-act="keep"
        pending={keep.isPending}
        onClick={() => {
          if (!isPending) keep.mutate({ verdict: 'keep' })
        }}
      >
        {VERDICTS[state].keep}
      </Button>
      <Button
        variant="plain"
        data-act="block"
        onClick={() => openDialog({ name: 'block-author', postId: id })}
      >
        {author.block ? 'Изменить блокировку…' : 'Заблокировать автора…'}
      </Button>
    </div>
  )
}
