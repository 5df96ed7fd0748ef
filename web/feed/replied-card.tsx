import { usePost } from '../posts/post-cache.ts'
import { PostCard } from '../posts/post-card.tsx'
import { PostActions } from './post-actions.tsx'
import { PostMenu } from './post-menu.tsx'
import styles from './replied-card.module.css'

/** The post that the one below answers, joined to it by a line; a placeholder once it is deleted. */
export function RepliedCard({ id }: { id: string }) {
  const post = usePost(id)
  if (post === undefined) return null
  if (post === null) return <p className={styles.deleted}>Запись удалена</p>
  return (
    <PostCard post={post} menu={<PostMenu post={post} />} joined>
      <PostActions post={post} />
    </PostCard>
  )
}
