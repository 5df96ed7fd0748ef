import type { MouseEvent } from 'react'
import type { QueuedPost } from '../../../contract/moderation.ts'
import { openDialog } from '../../history/history.ts'
import { Button } from '../../ui/button.tsx'
import { classes } from '../../ui/classes.ts'
import { useShortcuts } from '../../ui/shortcuts.ts'
import { decide, decideAll } from './decide.ts'
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
      <Button variant="danger" onClick={once(remove)} {...labelled(VERDICTS[state].remove)} />
      <Button onClick={once(keep)} {...labelled(VERDICTS[state].keep)} />
      <Button
        variant="plain"
        onClick={once(block)}
        {...labelled(author.block ? 'Изменить блокировку…' : 'Заблокировать автора…')}
      />
    </div>
  )
}

/** Decides about all posts of an author that stand in the queue and were reported. */
export function AuthorActions({ posts }: { posts: readonly QueuedPost[] }) {
  const { username } = posts[0]?.author ?? {}
  const button = (label: string, verdict: 'remove' | 'keep') => (
    <Button
      size="s"
      aria-label={`${label}: ${username}`}
      onClick={once(() => decideAll(posts, verdict))}
    >
      {label}
    </Button>
  )
  return (
    <div className={classes('spread band', styles.all)}>
      <p className="soft">Все записи автора в очереди</p>
      <div className="wrap">
        {button(`Удалить все\u00a0(${posts.length})`, 'remove')}
        {button(`Оставить все\u00a0(${posts.length})`, 'keep')}
      </div>
    </div>
  )
}

/** Leaves out the second of two clicks or taps, under which the next card has moved. */
function once(act: () => void) {
  return ({ detail }: MouseEvent) => {
    if (detail < 2) act()
  }
}
