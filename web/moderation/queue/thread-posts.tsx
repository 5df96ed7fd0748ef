import { useId } from 'react'
import { postPath } from '../../../contract/pages.ts'
import type { Post } from '../../../contract/posts.ts'
import { Link } from '../../history/link.tsx'
import { classes } from '../../ui/classes.ts'
import styles from './thread-posts.module.css'

/** The posts around a queued post, each cut to a few lines. */
export function ThreadPosts({ label, posts }: { label: string; posts: readonly Post[] }) {
  const id = useId()
  if (posts.length === 0) return null
  return (
    <div>
      <p id={id} className="soft">
        {label}
      </p>
      <ul aria-labelledby={id} className={styles.posts}>
        {posts.map((post) => (
          <li key={post.id} className={styles.post}>
            <Link className={classes('soft clamp cover', styles.link)} to={postPath(post.id)}>
              <b>{post.owner.username}</b> <bdi>{post.text}</bdi>
            </Link>
          </li>
        ))}
      </ul>
    </div>
  )
}
