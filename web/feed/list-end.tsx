import type { ReactNode } from 'react'
import { EmptyState } from '../ui/empty-state.tsx'
import { Mark } from '../ui/mark.tsx'
import styles from './list-end.module.css'

const EMPTY = { title: 'Записи не найдены', text: 'Возможно, записи скоро появятся' }

type NoPostsProps = {
  title?: string | undefined
  text?: string | undefined
  action: ReactNode
}

export function NoPosts({ title = EMPTY.title, text = EMPTY.text, action }: NoPostsProps) {
  return <EmptyState title={title} text={text} action={action} />
}

export function NoReplies() {
  return (
    <p className={styles.noReplies}>
      {EMPTY.title}. {EMPTY.text}
    </p>
  )
}

/** The end of a list is marked, so that nobody waits for more. */
export function LastPost({ text = 'Это все записи' }: { text?: string | undefined }) {
  return (
    <p className={styles.last}>
      <Mark size={18} />
      {text}
    </p>
  )
}
