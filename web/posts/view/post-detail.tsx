import { type ReactNode, useId } from 'react'
import { authorPath } from '../../../contract/pages.ts'
import { Link } from '../../history/link.tsx'
import { Monogram } from '../../ui/monogram.tsx'
import type { CachedPost } from '../cache/post-cache.ts'
import { FoldedText } from './post-card.tsx'
import styles from './post-detail.module.css'
import { PostTime, useExactTime } from './post-time.tsx'

type PostDetailProps = {
  post: CachedPost
  menu: ReactNode
  children: ReactNode
}

export function PostDetail({ post, menu, children }: PostDetailProps) {
  const { username } = post.owner
  const id = useId()
  const exactTime = useExactTime(post.created_at)
  return (
    <article
      className={styles.post}
      data-post-id={post.id}
      aria-labelledby={`${id}-author`}
      aria-describedby={`${id}-text`}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: shortcuts step through it too.
      tabIndex={0}
    >
      {/* It moves without the article, whose place others measure. */}
      <div className={styles.moving}>
        <div className={styles.head}>
          <Link className={styles.tile} to={authorPath(username)} tabIndex={-1} aria-hidden="true">
            <Monogram name={username} />
          </Link>
          <Link id={`${id}-author`} className={styles.author} to={authorPath(username)}>
            {username}
          </Link>
          <div className={styles.menu}>{menu}</div>
        </div>
        <div id={`${id}-text`}>
          <FoldedText post={post} size="page" />
        </div>
        <p className={styles.date}>
          <PostTime createdAt={post.created_at} /> · {exactTime}
          {post.is_modified && ' · изменено'}
        </p>
        <div className={styles.actions}>{children}</div>
      </div>
    </article>
  )
}
