import { type ReactNode, useId } from 'react'
import { classes } from '../../ui/classes.ts'
import type { CachedPost } from '../cache/post-cache.ts'
import { AuthorName, AuthorTile } from './author-links.tsx'
import { Clarification, FoldedText } from './post-card.tsx'
import styles from './post-detail.module.css'
import { editedLabel, PostTime, useDateTime } from './post-time.tsx'

type PostDetailProps = {
  post: CachedPost
  menu: ReactNode
  children: ReactNode
}

export function PostDetail({ post, menu, children }: PostDetailProps) {
  const { username } = post.owner
  const id = useId()
  const dateTime = useDateTime(post.created_at)
  return (
    <article
      className={styles.post}
      data-post-id={post.id}
      aria-label={username}
      aria-describedby={`${id}-text ${id}-clarification`}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: shortcuts step through it too.
      tabIndex={0}
    >
      <div className={classes('line', styles.head)}>
        <AuthorTile username={username} />
        <AuthorName owner={post.owner} className={styles.author} />
        <div className={styles.menu}>{menu}</div>
      </div>
      <div id={`${id}-text`}>
        <FoldedText post={post} size="page" />
      </div>
      <p className={classes('soft', styles.date)}>
        <PostTime createdAt={post.created_at} /> · <span suppressHydrationWarning>{dateTime}</span>
        {editedLabel(post)}
      </p>
      <Clarification id={`${id}-clarification`} post={post} />
      <div className={classes('unprinted', styles.actions)}>{children}</div>
    </article>
  )
}
