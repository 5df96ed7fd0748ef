import type { ReactNode } from 'react'
import type { CachedPost } from '../posts/cache/post-cache.ts'
import { withViewer } from '../session/intents.ts'
import { Button } from '../ui/button.tsx'
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

export function NoReplies({ post }: { post: CachedPost }) {
  return (
    <div className={styles.noReplies}>
      <p className={styles.words}>
        {EMPTY.title}. {EMPTY.text}
      </p>
      <Button size="s" onClick={() => withViewer({ name: 'reply', postId: post.id })}>
        Ответить
      </Button>
    </div>
  )
}

/** The end of a list is marked, so that nobody waits for more. */
export function LastPost() {
  return (
    <p className={styles.last}>
      <Mark size={18} />
      Это все записи
    </p>
  )
}
