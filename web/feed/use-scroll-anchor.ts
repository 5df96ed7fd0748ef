import { useLayoutEffect, useRef } from 'react'
import { useEntry } from '../history/entry.tsx'
import { type Anchor, findAnchor, saveAnchor } from '../history/scroll-anchors.ts'
import type { PostListView } from '../posts/cache/use-post-list.ts'
import { articleOf, firstVisibleArticle, focusedArticle } from './articles.ts'

/** The posts above get their true height within so many frames. */
const FRAMES_TO_RENDER = 3

type PostPosition = Pick<Anchor, 'postId' | 'top'>

/**
 * Remembers at which post each history entry was left, and returns there after going back or a
 * reload. A post is remembered, not a pixel: the posts above may have changed meanwhile.
 */
export function useScrollAnchor(list: PostListView): void {
  const { key: entryKey, isReturn } = useEntry()
  const ready = list.state === 'ready'
  const left = useRef<{ entryKey: string; start: string | null; last: PostPosition | undefined }>(
    undefined,
  )
  const cursorsTo = useRef(list.cursorsTo)

  useLayoutEffect(() => {
    cursorsTo.current = list.cursorsTo
  })

  useLayoutEffect(() => {
    history.scrollRestoration = 'manual'
    if (!ready) return
    const { current } = left
    if (current?.entryKey !== entryKey) {
      const anchor = isReturn ? findAnchor(entryKey) : undefined
      left.current = { entryKey, start: list.start, last: anchor }
      if (anchor) restore(anchor, anchor.focusedId)
    } else if (current.start !== list.start) {
      // Posts were added above: what is being read must not move. Safari has no scroll anchoring.
      current.start = list.start
      if (current.last) restore(current.last)
    }
  }, [entryKey, isReturn, ready, list.start])

  // The posts below fill the space by now, or there are none.
  useLayoutEffect(() => {
    if (ready && !list.hasMore) reserveHeight(0)
  }, [ready, list.hasMore])

  useLayoutEffect(() => {
    if (!ready) return
    const remember = () => {
      if (left.current) left.current.last = currentAnchor() ?? left.current.last
    }
    const save = () => {
      const last = left.current?.last ?? currentAnchor()
      if (!last) return
      const focusedId = focusedArticle()?.dataset.postId
      const anchor = { ...last, focusedId, cursors: cursorsTo.current(last.postId) }
      saveAnchor(entryKey, anchor, scrollY === 0)
    }
    const stop = new AbortController()
    const { signal } = stop
    addEventListener('scroll', remember, { passive: true, signal })
    // A tab in the background may be closed without another event, and be reloaded later.
    document.addEventListener('visibilitychange', save, { signal })
    addEventListener('pagehide', save, { signal })
    return () => {
      stop.abort()
      save()
      reserveHeight(0)
    }
  }, [entryKey, ready])
}

function currentAnchor(): PostPosition | undefined {
  const article = firstVisibleArticle()
  const postId = article?.dataset.postId
  return article && postId ? { postId, top: article.getBoundingClientRect().top } : undefined
}

function restore({ postId, top }: PostPosition, focusedId?: string): void {
  const article = articleOf(postId)
  if (!article) return
  scrollToTop(article, top, FRAMES_TO_RENDER)
  if (focusedId) articleOf(focusedId)?.focus({ preventScroll: true })
}

/** Scrolls again for some frames: posts above get their true height only when rendered. */
function scrollToTop(article: HTMLElement, top: number, frames: number): void {
  const y = scrollY + article.getBoundingClientRect().top - top
  // The posts below it may not be read yet.
  reserveHeight(y + innerHeight)
  scrollTo(0, y)
  requestAnimationFrame(() => {
    if (frames > 0 && article.isConnected) scrollToTop(article, top, frames - 1)
  })
}

function reserveHeight(height: number): void {
  document.documentElement.style.minHeight = height > 0 ? `${height}px` : ''
}
