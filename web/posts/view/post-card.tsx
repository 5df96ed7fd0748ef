import { type KeyboardEvent, type MouseEvent, type ReactNode, useId } from 'react'
import { Link, useNavigate } from 'react-router'
import { postPath } from '../../../contract/pages.ts'
import { Monogram } from '../../ui/monogram.tsx'
import type { CachedPost } from '../cache/post-cache.ts'
import styles from './post-card.module.css'
import { PostText } from './post-text.tsx'
import { PostTime } from './post-time.tsx'
import { RepliedPost } from './replied-post.tsx'

/** What has a meaning of its own inside a card: a click on it does not open the post. */
const OWN_MEANING = 'a, button, input, textarea, select, label, [role^="menu"], [role="dialog"]'

type PostCardProps = {
  post: CachedPost
  /** Place in the list, from 1, and its length; -1 while more is to come. */
  position?: number
  setSize?: number
  /** Leaves out the post answered, where the page shows it anyway. */
  withoutQuote?: boolean
  /** Joins the card by a line to what stands below it. */
  joined?: boolean
  /** The menu in the corner, and the row of actions below the text. */
  menu?: ReactNode
  children?: ReactNode
}

/** A post in a list. The whole card opens it; its time is the link that can be copied or opened in a new tab. */
export function PostCard(props: PostCardProps) {
  const { post, position, setSize, joined, menu, children } = props
  const answeredId = props.withoutQuote ? null : post.actions.replied_post_id
  const id = useId()
  const open = useOpenPost(post.id)
  return (
    <article
      className={styles.card}
      data-post-id={post.id}
      data-joined={joined}
      aria-labelledby={`${id}-author`}
      aria-describedby={`${id}-text`}
      aria-posinset={position}
      aria-setsize={setSize}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: articles of an ARIA feed take focus.
      tabIndex={0}
      onClick={open.onClick}
      onKeyDown={open.onKeyDown}
    >
      <Monogram name={post.owner.username} />
      <div className={styles.body}>
        <div className={styles.head}>
          <b id={`${id}-author`} className={styles.author}>
            {post.owner.username}
          </b>
          <Link className={styles.permalink} to={postPath(post.id)}>
            <PostTime createdAt={post.created_at} />
          </Link>
          {post.is_modified && <span className={styles.modified}>изменено</span>}
          {menu && <div className={styles.menu}>{menu}</div>}
        </div>
        {answeredId && <RepliedPost id={answeredId} />}
        <div id={`${id}-text`} className={styles.text}>
          <PostText text={post.text} />
        </div>
        {children && <div className={styles.actions}>{children}</div>}
      </div>
    </article>
  )
}

function useOpenPost(postId: string) {
  const navigate = useNavigate()
  const path = postPath(postId)

  function onClick(event: MouseEvent<HTMLElement>): void {
    if (event.defaultPrevented || !(event.target instanceof Element)) return
    // A menu is drawn elsewhere in the page, yet its clicks arrive here through React.
    if (!event.currentTarget.contains(event.target)) return
    if (event.target.closest(OWN_MEANING) || selectsText()) return
    if (event.ctrlKey || event.metaKey) window.open(path, '_blank', 'noopener')
    else navigate(path)
  }

  function onKeyDown(event: KeyboardEvent<HTMLElement>): void {
    if (event.key === 'Enter' && event.target === event.currentTarget) navigate(path)
  }

  return { onClick, onKeyDown }
}

function selectsText(): boolean {
  return getSelection()?.isCollapsed === false
}
