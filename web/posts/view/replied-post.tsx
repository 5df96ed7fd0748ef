import { Link } from 'react-router'
import { postPath } from '../../../contract/pages.ts'
import { usePost } from '../cache/post-cache.ts'
import styles from './replied-post.module.css'

type RepliedPostProps = {
  id: string
  /** In a dialog the quote is no link: nobody must leave the text they are writing by accident. */
  inDialog?: boolean
}

/** A quote of the post that a reply is about, in a few lines; a placeholder once it is deleted. */
export function RepliedPost({ id, inDialog = false }: RepliedPostProps) {
  const post = usePost(id)
  if (post === undefined) return null
  if (post === null) return <p className={styles.quote}>Запись удалена</p>
  const quote = (
    <>
      <b className={styles.author}>{post.owner.username}</b> <bdi>{post.text}</bdi>
    </>
  )
  return inDialog ? (
    <blockquote className={styles.quote} data-in-dialog>
      {quote}
    </blockquote>
  ) : (
    <Link className={styles.link} to={postPath(id)}>
      <span className={styles.quote}>{quote}</span>
    </Link>
  )
}
