import type { QueuedPost } from '../../../contract/moderation.ts'
import { POST_FORMS, plural } from '../../format/counts.ts'
import { formatDate } from '../../format/labels.ts'
import { sendDelayed } from '../../http/delayed-write.ts'
import { useAction } from '../../session/use-action.tsx'
import { Button } from '../../ui/button.tsx'
import { classes } from '../../ui/classes.ts'
import { toast } from '../../ui/overlay/toaster.tsx'
import styles from './queue.module.css'
import { blockEnd, refreshQueue, unblockAuthor } from './queue.queries.ts'

/** Returns 'с 25 ноября · 4 записи · удалено 1 · заблокирован до 1 декабря' or a part of it. */
export function authorFacts(author: QueuedPost['author']): string {
  const { createdAt, posts, removed, block } = author
  const facts = [
    `с\u00a0${formatDate(createdAt)}`,
    posts > 0 && `${posts}\u00a0${plural(posts, POST_FORMS)}`,
    removed > 0 && `удалено\u00a0${removed}`,
    block && `заблокирован ${blockEnd(block)}`,
  ]
  return facts.filter(Boolean).join(' · ')
}

export function AuthorBlock({ author: { id, username, block } }: Pick<QueuedPost, 'author'>) {
  const unblock = useAction({
    mutationFn: async () => {
      // Sends a delayed block now, because it would otherwise be sent after the unblocking.
      await sendDelayed()
      await unblockAuthor(id)
    },
    onSuccess: async () => {
      toast({ text: 'Автор разблокирован' })
      await refreshQueue()
    },
    errors: 'toast',
  })
  if (!block) return null
  return (
    <div className={classes('spread', styles.block)}>
      <p className={styles.text}>Причина блокировки: {block.reason}</p>
      <Button
        size="s"
        pending={unblock.isPending}
        aria-label={`Разблокировать: ${username}`}
        onClick={() => unblock.mutate()}
      >
        Разблокировать
      </Button>
    </div>
  )
}
