import type { QueuedPost } from '../../../contract/moderation.ts'
import { openDialog } from '../../history/history.ts'
import { Button } from '../../ui/button.tsx'
import { useShortcuts } from '../../ui/shortcuts.ts'
import { focusedCardId, useDecide } from './decide.ts'
import styles from './queue-actions.module.css'

const VERDICTS: Record<QueuedPost['state'], { remove: string; keep: string }> = {
  published: { remove: 'Удалить', keep: 'Оставить' },
  hidden: { remove: 'Удалить', keep: 'Вернуть' },
  removed: { remove: 'Не возвращать', keep: 'Вернуть' },
  deleted: { remove: 'Есть нарушение', keep: 'Нарушения нет' },
}

/** The keys act on the card that has the focus. J and K step as everywhere. */
export function QueueActions({ post }: { post: QueuedPost }) {
  const { author, id, state } = post
  const decision = useDecide({ post, errors: 'toast' })
  const pending = decision.isPending ? decision.variables?.verdict : undefined
  const remove = () => decision.mutate({ verdict: 'remove' })
  const keep = () => decision.mutate({ verdict: 'keep' })
  const block = () => openDialog({ name: 'block-author', postId: id })
  const onOwnCard = (act: () => void) => () => focusedCardId() === id && act()
  useShortcuts({ KeyD: onOwnCard(remove), KeyO: onOwnCard(keep), KeyB: onOwnCard(block) })
  return (
    <div className={styles.actions}>
      <Button variant="danger" pending={pending === 'remove'} onClick={remove}>
        {VERDICTS[state].remove}
      </Button>
      <Button pending={pending === 'keep'} onClick={keep}>
        {VERDICTS[state].keep}
      </Button>
      <Button variant="plain" onClick={block}>
        {author.block ? 'Изменить блокировку…' : 'Заблокировать автора…'}
      </Button>
    </div>
  )
}
