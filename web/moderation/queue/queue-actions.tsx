import type { QueuedPost } from '../../../contract/moderation.ts'
import { openDialog } from '../../history/history.ts'
import { Button } from '../../ui/button.tsx'
import { classes } from '../../ui/classes.ts'
import { useShortcuts } from '../../ui/shortcuts.ts'
import { decide } from './decide.ts'
import styles from './queue.module.css'

const VERDICTS: Record<QueuedPost['state'], { remove: string; keep: string }> = {
  published: { remove: 'Удалить', keep: 'Оставить' },
  hidden: { remove: 'Удалить', keep: 'Вернуть' },
  removed: { remove: 'Не возвращать', keep: 'Вернуть' },
  deleted: { remove: 'Есть нарушение', keep: 'Нарушения нет' },
}

type QueueActionsProps = {
  post: QueuedPost
  /** Whether the card has the focus: the keys act only on that card. */
  hasFocus: () => boolean
}

export function QueueActions({ post, hasFocus }: QueueActionsProps) {
  const { author, id, state } = post
  const remove = () => decide(post, { verdict: 'remove' })
  const keep = () => decide(post, { verdict: 'keep' })
  const block = () => openDialog({ name: 'block-author', postId: id })
  const onOwnCard = (act: () => void) => () => hasFocus() && act()
  /** Screen readers list the buttons of all cards, so their names differ. */
  const labelled = (label: string) => ({
    'aria-label': `${label}: ${author.username}`,
    children: label,
  })
  useShortcuts({ KeyD: onOwnCard(remove), KeyO: onOwnCard(keep), KeyB: onOwnCard(block) })
  return (
    <div className={classes('wrap', styles.actions)}>
      <Button variant="danger" onClick={remove} {...labelled(VERDICTS[state].remove)} />
      <Button onClick={keep} {...labelled(VERDICTS[state].keep)} />
      <Button
        variant="plain"
        onClick={block}
        {...labelled(author.block ? 'Изменить блокировку…' : 'Заблокировать автора…')}
      />
    </div>
  )
}
