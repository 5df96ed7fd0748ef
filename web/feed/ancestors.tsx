import { ArrowUp } from 'lucide'
import { Component, createRef, type ReactNode } from 'react'
import { postPath } from '../../contract/pages.ts'
import { POST_FORMS, plural } from '../format/counts.ts'
import { Read } from '../http/read.tsx'
import { useIsMuted } from '../posts/cache/hidden.ts'
import { type CachedPost, usePost } from '../posts/cache/post-cache.ts'
import { useReadPost } from '../posts/cache/posts.queries.ts'
import { MUTED_AUTHOR } from '../posts/view/post-card.tsx'
import { useAncestors } from '../replies/replies.queries.ts'
import { useAction } from '../session/use-action.tsx'
import { classes } from '../ui/classes.ts'
import { Icon } from '../ui/icon.tsx'
import { Skeleton } from '../ui/states/skeleton.tsx'
import styles from './ancestors.module.css'
import { articleOf } from './articles.ts'
import { FeedPost } from './post-controls.tsx'

const linkClass = classes('line act underlined focus-inside', styles.link)

/** Shows the posts above a reply, from the start of the thread down to the replied post. */
export function Ancestors({ post }: { post: CachedPost }) {
  const { ids, folded, readAll, startId } = useAncestors(post)
  const unfold = useAction({
    mutationFn: (_pressed: Element) => readAll(),
    // The button disappears, and would take the focus with it, unless this has moved on.
    onSuccess: (_, pressed) => {
      const { activeElement, body } = document
      const isFree = activeElement === pressed || activeElement === body
      if (isFree) articleOf(ids[0] ?? '')?.focus({ preventScroll: true })
    },
    errors: 'toast',
  })
  return (
    <GrowsUpwards>
      {startId && (
        <div className={classes('spread', styles.above)}>
          <a className={linkClass} href={postPath(startId)}>
            <Icon shape={ArrowUp} size={16} />К началу ветки
          </a>
          {folded > 0 && (
            <button
              type="button"
              className={linkClass}
              aria-disabled={unfold.isPending || undefined}
              onClick={({ currentTarget }) => unfold.mutate(currentTarget)}
            >
              Показать ещё {folded} {plural(folded, POST_FORMS)} выше
            </button>
          )}
        </div>
      )}
      {ids.map((id, at) => (
        <RepliedCard key={id} id={id} replyBelow={ids[at + 1] ?? post.id} withoutQuote={at > 0} />
      ))}
    </GrowsUpwards>
  )
}

type RepliedCardProps = { id: string; replyBelow: string; withoutQuote: boolean }

function RepliedCard({ id, ...look }: RepliedCardProps) {
  const post = usePost(id)
  const isMuted = useIsMuted(post?.owner.id)
  if (post === undefined) return <UnreadCard id={id} />
  if (post === null) return <p className={styles.deleted}>Запись удалена</p>
  if (isMuted) {
    return (
      <p className={styles.deleted}>
        <a href={postPath(id)}>{MUTED_AUTHOR}</a>
      </p>
    )
  }
  return <FeedPost id={id} {...look} />
}

/** Reads a post. Its skeleton has the same size, so that the content below does not move. */
function UnreadCard({ id }: { id: string }) {
  return (
    <Read query={useReadPost(id)} loading={<Skeleton label="Загружаем запись" />} inRow>
      {() => null}
    </Read>
  )
}

/** Scrolls the page by as much as its children grow, so that the text below does not move. */
class GrowsUpwards extends Component<{ children: ReactNode }> {
  private readonly box = createRef<HTMLDivElement>()

  override getSnapshotBeforeUpdate(): number {
    return this.bottom()
  }

  override componentDidUpdate(_props: unknown, _state: unknown, before: number): void {
    // Browsers with scroll anchoring have scrolled already, except at the very top of the page.
    const moved = this.bottom() - before
    if (moved !== 0) scrollBy(0, moved)
  }

  private bottom(): number {
    return this.box.current?.getBoundingClientRect().bottom ?? 0
  }

  override render(): ReactNode {
    return <div ref={this.box}>{this.props.children}</div>
  }
}
