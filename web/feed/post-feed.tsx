import {
  type ComponentType,
  Fragment,
  type ReactNode,
  startTransition,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'
import { LIVE_RECENT_MS, PAGE_SIZE } from '../../contract/constants.ts'
import {
  EMPTY_LIST,
  isOldestFirst,
  PATHS,
  searchPath,
  searchTextIn,
  withCursor,
} from '../../contract/pages.ts'
import { useEntry } from '../history/entry.tsx'
import { findPlace } from '../history/scroll-places.ts'
import { errorMessage } from '../http/error-message.ts'
import { whenIdle } from '../platform/timing.ts'
import { type ListSource, type PostListView, usePostList } from '../posts/cache/use-post-list.ts'
import { SiteLinks } from '../texts/site-links.tsx'
import { ThemeToggle } from '../theme/theme-toggle.tsx'
import { Button } from '../ui/button.tsx'
import { classes } from '../ui/classes.ts'
import { Mark } from '../ui/icon.tsx'
import { EmptyState, type EmptyStateProps } from '../ui/states/empty-state.tsx'
import { ErrorPage, ErrorRow } from '../ui/states/errors.tsx'
import { Skeleton } from '../ui/states/skeleton.tsx'
import { articleOf } from './articles.ts'
import { useButtonPages } from './button-pages.ts'
import { NewPostsPill } from './new-posts-pill.tsx'
import { type FeedCardProps, FeedPost } from './post-controls.tsx'
import styles from './post-feed.module.css'
import { useFocusPublished } from './use-focus-published.ts'
import { useNear } from './use-near.ts'
import { useScrollAnchor } from './use-scroll-anchor.ts'

const FIRST_SKELETONS = 6
const MORE_SKELETONS = 2
/** A list of a thousand posts is whole within some seconds. */
const STEP_MS = 50

type PostFeedProps = {
  source: ListSource
  label: string
  /** Whether the posts are replies to the post above, which they then do not quote. */
  areReplies?: boolean
  empty?: ReactNode
  endText?: string | undefined
  card?: ComponentType<FeedCardProps>
  /** Whether the site's foot follows the last post, once the list is complete. */
  hasFoot?: boolean
}

/** Shows a list. Each history entry has its own feed, which begins where the entry was left. */
export function PostFeed(props: PostFeedProps) {
  return <EntryFeed key={useEntry().key} {...props} />
}

function EntryFeed(props: PostFeedProps) {
  const { source } = props
  const { key, isReturn } = useEntry()
  const [left] = useState(() => (isReturn ? findPlace(key) : null))
  const anchor = left?.anchor ?? null
  // The scripts may run long after the server rendered the page.
  const [isLate] = useState(() => isReturn && performance.now() > LIVE_RECENT_MS)
  const list = usePostList(source, anchor)
  const isByButton = useButtonPages()
  const end = useNear(isByButton ? doNothing : list.loadMore)
  const beginning = useNear(list.loadAbove)
  const place = useScrollAnchor(list, left)
  useFocusPublished(list.ids)
  const { newer, start = '' } = source
  const isLater = start !== '' && !isOldestFirst(start)

  return (
    <>
      {(isLater || list.above > 0) && <ListLink className={styles.beginning}>К началу</ListLink>}
      {list.hasFailedAbove && (
        <ErrorRow text={errorMessage(list.error)} onRetry={list.retryAbove} />
      )}
      <div ref={beginning} />
      {newer && start === '' && list.isReady && (
        <NewPostsPill
          {...{ list, source, newer, place }}
          isOld={list.isFromTop && (!!anchor || isLate)}
        />
      )}
      <FeedPages {...props} list={list} anchorId={anchor?.postId ?? ''} />
      <FeedEnd {...props} list={list} />
      <div ref={end} />
    </>
  )
}

type FeedPartProps = PostFeedProps & { list: PostListView }

/** Renders the pages around the place that the reader returns to, and then the other pages. */
function FeedPages({ list, anchorId, ...props }: FeedPartProps & { anchorId: string }) {
  const { source, label, areReplies = false, card: Card = FeedPost } = props
  const { pages, ids, above, total, stoppedAt, nextCursor, isLoading } = list
  const anchorAt = pages.findIndex((page) => page.ids.includes(anchorId))
  // Without scroll anchoring, pages that follow above would move what is read.
  const [radius, setRadius] = useState(() =>
    anchorId === '' || !CSS.supports('overflow-anchor: auto') ? Number.POSITIVE_INFINITY : 1,
  )
  const isRendered = (index: number) => Math.abs(index - Math.max(0, anchorAt)) <= radius
  const hasAll = nextCursor === null && list.isFromTop
  const size = hasAll ? ids.length : Math.max(total, above + ids.length)
  const setSize = source.start ? undefined : size

  useEffect(() => {
    if (radius === Number.POSITIVE_INFINITY) return
    const next = radius < pages.length ? radius + 1 : Number.POSITIVE_INFINITY
    // Step by step, because a thousand posts at once would keep a phone busy for a second.
    whenIdle(() => startTransition(() => setRadius(next)), STEP_MS)
  }, [radius, pages.length])

  if (ids.length === 0 && !isLoading) return null
  return (
    <div role="feed" aria-label={label} aria-busy={isLoading}>
      {pages.map((page, index) => (
        <div
          key={page.key}
          className={styles.page}
          data-empty={!isRendered(index) || undefined}
          data-short={(pages.length === 1 && nextCursor === null) || undefined}
        >
          {page.isOutdated && isRendered(index) && (
            <Outdated onNear={() => list.readLikes(page.key)} />
          )}
          {isRendered(index) &&
            page.ids.map((id, at) => (
              <Fragment key={id}>
                {id === stoppedAt && (
                  <div className={classes('line soft band', styles.stop)}>
                    Вы остановились здесь
                  </div>
                )}
                <Card
                  id={id}
                  ids={page.ids}
                  position={setSize && page.above + at + 1}
                  setSize={setSize}
                  withoutQuote={areReplies}
                />
              </Fragment>
            ))}
        </div>
      ))}
    </div>
  )
}

/** Covers a page whose likes are another viewer's, which are read when it comes near. */
function Outdated({ onNear }: { onNear: () => void }) {
  return <div ref={useNear(onNear)} className={styles.outdated} />
}

function FeedEnd({ list, areReplies, empty = <NoPosts />, endText, hasFoot }: FeedPartProps) {
  const isByButton = useButtonPages()
  const more = useMore(list)
  const isMore = isByButton && list.nextCursor !== null
  if (list.isLoading && !isMore)
    return <Skeleton count={list.isReady ? MORE_SKELETONS : FIRST_SKELETONS} />
  if (list.hasFailed) {
    const ErrorMessage = list.isReady || areReplies ? ErrorRow : ErrorPage
    return <ErrorMessage text={errorMessage(list.error)} onRetry={list.retry} />
  }
  if (isMore) {
    return (
      <>
        {list.isLoading && <Skeleton count={MORE_SKELETONS} />}
        {/* It keeps the focus until the next post takes it. */}
        <div className={list.isLoading ? 'visually-hidden' : styles.more}>
          <Button onClick={more}>Ещё {PAGE_SIZE}</Button>
        </div>
        {hasFoot && !list.isLoading && <SiteFoot />}
      </>
    )
  }
  if (list.nextCursor !== null) {
    return (
      // Scrolling loads the next posts, and without scripts this link leads to them.
      <ListLink rel="next" className={styles.next} cursor={list.nextCursor}>
        Дальше
      </ListLink>
    )
  }
  if (areReplies && list.muted > 0) {
    return (
      <>
        <MutedReplies count={list.muted} />
        {hasFoot && <SiteFoot />}
      </>
    )
  }
  // Neither a single post nor replies need a line at the end.
  const hasEnd = !areReplies && (endText !== undefined || list.total > 1)
  return (
    <>
      {list.ids.length === 0
        ? empty
        : hasEnd && (
            // The line shows readers that no more posts will load.
            <p className={classes('line soft', styles.last)}>
              <Mark size={18} />
              {endText ?? 'Это все записи'}
            </p>
          )}
      {hasFoot && <SiteFoot />}
    </>
  )
}

/** Returns a function that loads the next page, and then focuses its first post. */
function useMore({ ids, loadMore, hasFailed }: PostListView): () => void {
  const last = useRef<string>(undefined)
  // In the layout phase: the last page has removed the button.
  useLayoutEffect(() => {
    const next = last.current && ids[ids.indexOf(last.current) + 1]
    if (next) articleOf(next)?.focus({ preventScroll: true })
    if (next || hasFailed) last.current = undefined
  }, [ids, hasFailed])
  return () => {
    last.current = ids.at(-1)
    loadMore()
  }
}

function doNothing(): void {}

/** Says why a thread shows fewer replies than its post counts. */
function MutedReplies({ count }: { count: number }) {
  return (
    <p className={classes('soft', styles.muted)}>
      Ответы скрытых вами авторов: {count}. <a href={PATHS.hidden}>Кого вы скрыли</a>
    </p>
  )
}

export function NoPosts(props: Partial<EmptyStateProps>) {
  return <EmptyState {...EMPTY_LIST} {...props} />
}

type ListLinkProps = {
  cursor?: string
  rel?: 'next'
  className: string | undefined
  children: string
}

/** Links to the part of the list at `cursor`, or to its beginning. */
function ListLink({ cursor = '', ...props }: ListLinkProps) {
  const { pathname, search } = useEntry()
  const q = searchTextIn(search)
  return <a {...props} href={withCursor(q === '' ? pathname : searchPath(q), cursor)} />
}

/** Shows the site's links and the theme below a public page on phones and tablets. */
export function SiteFoot() {
  return (
    <SiteLinks>
      <ThemeToggle />
    </SiteLinks>
  )
}
