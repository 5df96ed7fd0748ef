import { postPath } from '../../contract/pages.ts'
import { Link } from '../history/link.tsx'
import { Read } from '../http/read.tsx'
import { useIsMuted } from '../posts/cache/hidden.ts'
import { usePost } from '../posts/cache/post-cache.ts'
import { useReadPost } from '../posts/cache/posts.queries.ts'
import { MUTED_AUTHOR, PostCard } from '../posts/view/post-card.tsx'
import { Skeleton } from '../ui/skeleton.tsx'
import { PostActions, PostMenuButton } from './post-controls.tsx'
import styles from './replied-card.module.css'

type RepliedCardProps = { id: string; withoutQuote: boolean }

/** A post above a reply, joined to it by a line. */
export function RepliedCard({ id, withoutQuote }: RepliedCardProps) {
  const post = usePost(id)
  const isMuted = useIsMuted(post?.owner.id)
  if (post === undefined) return <UnreadCard id={id} />
  if (post === null) return <p className={styles.deleted}>Запись удалена</p>
  if (isMuted) {
    return (
      <p className={styles.deleted}>
        <Link to={postPath(id)}>{MUTED_AUTHOR}</Link>
      </p>
    )
  }
  return (
    <PostCard post={post} menu={<PostMenuButton post={post} />} withoutQuote={withoutQuote} joined>
      <PostActions post={post} />
    </PostCard>
  )
}

/** Its skeleton has the size of a post, so that the content below does not move. */
function UnreadCard({ id }: { id: string }) {
  return (
    <Read query={useReadPost(id)} loading={<Skeleton label="Загружаем запись" />} inRow>
      {() => null}
    </Read>
  )
}
