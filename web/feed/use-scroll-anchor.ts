import { useLayoutEffect, useRef } from 'react'
import { isForUsers, pageAt } from '../../contract/pages.ts'
import { useEntry } from '../history/entry.tsx'
import { type Anchor, saveAnchor } from '../history/scroll-anchors.ts'
import type { PostListView } from '../posts/cache/use-post-list.ts'
import { viewerId } from '../session/viewer.ts'
import { articleOf, firstVisibleArticle, focusedArticle } from './articles.ts'

/** The number of frames within which the posts above get their true height. */
const FRAMES_TO_RENDER = 3

type PostPosition = Pick<Anchor, 'postId' | 'top'>

export type Place = ReturnType<typeof useScrollAnchor>

/** Restores and stores the reader's place as a post, because the posts above it may change. */
export function useScrollAnchor(list: PostListView, anchor: Anchor | undefined) {
  const { key: entryKey, pathname } = useEntry()
  const ready = list.isReady
  const last = useRef<PostPosition | undefined>(anchor)
  const shown = useRef<PostListView>(undefined)

  useLayoutEffect(() => {
    history.scrollRestoration = 'manual'
    if (!ready) return
    const former = shown.current
    shown.current = list
    if (last.current) {
      // Keeps what is being read in place. Safari has no scroll anchoring, and no browser anchors
      // new elements or the very top of a page.
      const { postId, top } = last.current
      const moved = !former || spotOf(former, postId) !== spotOf(list, postId)
      if (moved) scrollToTop(articleOf(postId), top)
    }
    if (!former && anchor?.focusedId) {
      const { focusedId, focusVisible } = anchor
      articleOf(focusedId)?.focus({ preventScroll: true, focusVisible } as FocusOptions)
    }
    if (list.nextCursor === null) reserveHeight(0)
  })

  useLayoutEffect(() => {
    if (!ready) return
    const remember = () => {
      last.current = positionOf(firstVisibleArticle()) ?? last.current
    }
    const save = () => {
      const left = last.current ?? positionOf(firstVisibleArticle())
      if (!left || !shown.current || isOfFormerUser(pathname)) return
      const focusedId = focusedArticle()?.dataset.postId
      const focusVisible = document.activeElement?.matches(':focus-visible')
      const place = shown.current.placeOf(left.postId)
      saveAnchor(entryKey, { ...left, ...place, focusedId, focusVisible }, scrollY === 0)
    }
    const stop = new AbortController()
    const { signal } = stop
    addEventListener('scroll', remember, { passive: true, signal })
    // A background tab may be discarded without another event, and be reloaded later.
    document.addEventListener('visibilitychange', save, { signal })
    addEventListener('pagehide', save, { signal })
    return () => {
      stop.abort()
      save()
      reserveHeight(0)
    }
  }, [entryKey, pathname, ready])

  return {
    /** Remembers the post being read, before others are added above it. */
    keep: () => {
      last.current = positionOf(firstReadArticle(list))
    },
    leave: () => {
      last.current = undefined
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
function spotOf({ pages, ids, published }: PostListView, postId: string): string | undefined {
  const page = pages.find((it) => it.ids.includes(postId))
  return page && `${page.key} ${ids.indexOf(postId) - published.length}`
}

/** Returns whether a list for users is left after a logout, when nothing of it may be stored. */
function isOfFormerUser(pathname: string): boolean {
  const page = pageAt(pathname)
  return page !== null && isForUsers(page) && !viewerId()
}

function positionOf(article: HTMLElement | undefined): PostPosition | undefined {
  const postId = article?.dataset.postId
  return article && postId ? { postId, top: article.getBoundingClientRect().top } : undefined
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
