import { useEffectEvent, useLayoutEffect, useRef } from 'react'
import { isForUsers, pageAt } from '../../contract/pages.ts'
import { useEntry } from '../history/entry.tsx'
import { type Anchor, keepByAnchor, type Place } from '../history/scroll-places.ts'
import type { PostListView } from '../posts/cache/use-post-list.ts'
import { viewerId } from '../session/viewer.ts'
import { isForOther } from '../ui/shortcuts.ts'
import { articleOf, firstVisibleArticle, focusedArticle } from './articles.ts'

/** The number of frames within which the posts above get their true height. */
const FRAMES_TO_RENDER = 3

/** The post that is kept in place. */
type KeptPost = Pick<Anchor, 'postId' | 'top'> & {
  /** Its position when it was last put or seen at `top`; '' on a return, before it is put there. */
  position: string | undefined
}

export type ReadingPlace = ReturnType<typeof useScrollAnchor>

/** Restores and stores the reader's place as a post, because the posts above it may change. */
export function useScrollAnchor(list: PostListView, left: Place | null) {
  const { key: entryKey, pathname } = useEntry()
  const anchor = left?.anchor
  const { isReady } = list
  /** Null until the reader scrolls. */
  const kept = useRef<KeptPost | null>(anchor ? { ...anchor, position: '' } : null)

  /** Moves the kept post back to where it was, if posts have come above it. */
  const holdInPlace = useEffectEvent(() => {
    const post = kept.current
    const position = post ? positionOf(list, post.postId) : undefined
    if (!post || post.position === position) return
    const isDeleted = post.position === '' && !position
    // Without the posts above, the height means nothing.
    if (left && isDeleted) scrollTo(0, list.above === 0 ? left.y : 0)
    post.position = position
    scrollToTop(articleOf(post.postId), post.top)
  })

  // Runs after each render. Safari has no scroll anchoring, and no browser anchors new elements or
  // the very top of a page.
  useLayoutEffect(() => {
    if (!isReady) return
    holdInPlace()
    if (list.nextCursor === null) reserveHeight(0)
  })

  const remember = useEffectEvent(() => {
    kept.current = keptPost(list, firstVisibleArticle()) ?? kept.current
  })
  const anchorOf = useEffectEvent((): Anchor | null => {
    const { postId, top } = kept.current ?? keptPost(list, firstVisibleArticle()) ?? {}
    if (!postId || top === undefined || isOfFormerUser(pathname)) return null
    const focusedId = focusedArticle()?.dataset.postId
    const focusVisible = document.activeElement?.matches(':focus-visible')
    return { postId, top, ...list.placeOf(postId), focusedId, focusVisible }
  })

  useLayoutEffect(() => {
    if (!isReady) return
    // The reader may already type while the list is still being read.
    if (anchor?.focusedId && !isForOther(document.activeElement)) {
      const { focusedId, focusVisible } = anchor
      articleOf(focusedId)?.focus({ preventScroll: true, focusVisible } as FocusOptions)
    }
    addEventListener('scroll', remember, { passive: true })
    const release = keepByAnchor(entryKey, () => anchorOf())
    return () => {
      removeEventListener('scroll', remember)
      release()
      reserveHeight(0)
    }
  }, [anchor, entryKey, isReady])

  return {
    /** Remembers the post being read, before others are added above it. */
    keep: () => {
      kept.current = keptPost(list, firstReadArticle(list))
    },
    leave: () => {
      kept.current = null
    },
  }
}

/** Returns the first visible article or, if it was published here, the first that was read. */
function firstReadArticle({ published, ids }: PostListView): HTMLElement | undefined {
  const first = firstVisibleArticle()
  const isPublishedHere = published.includes(first?.dataset.postId ?? '')
  return isPublishedHere ? articleOf(ids[published.length] ?? '') : first
}

/** Returns a value that changes when posts of others come above a post, or its page changes. */
function positionOf({ pages, ids, published }: PostListView, postId: string): string | undefined {
  const page = pages.find((it) => it.ids.includes(postId))
  return page && `${page.key} ${ids.indexOf(postId) - published.length}`
}

/** Returns whether a list for users is left after a logout, when nothing of it may be stored. */
function isOfFormerUser(pathname: string): boolean {
  const page = pageAt(pathname)
  return page !== null && isForUsers(page) && !viewerId()
}

function keptPost(list: PostListView, article: HTMLElement | undefined): KeptPost | null {
  const postId = article?.dataset.postId
  if (!article || !postId) return null
  return { postId, top: article.getBoundingClientRect().top, position: positionOf(list, postId) }
}

/** Scrolls again for some frames: posts above get their true height only when rendered. */
function scrollToTop(article: HTMLElement | undefined, top: number, frames = FRAMES_TO_RENDER) {
  if (!article?.isConnected) return
  const y = scrollY + article.getBoundingClientRect().top - top
  // The page may be too short to scroll there, because the posts below may not be read yet.
  reserveHeight(y + innerHeight)
  scrollTo(0, y)
  if (frames > 0) requestAnimationFrame(() => scrollToTop(article, top, frames - 1))
}

function reserveHeight(height: number): void {
  document.documentElement.style.minHeight = height > 0 ? `${height}px` : ''
}
