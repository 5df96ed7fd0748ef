import { useLayoutEffect, useRef } from 'react'
import { useLocation, useNavigationType } from 'react-router'
import { articleOf, firstVisibleArticle, focusedArticle } from './articles.ts'

/** Where a visit of a page was left: which post stood how far (px) from the top of the window, and which had the focus. */
type Place = { postId: string; top: number; focusedId: string | undefined }

const FRAMES_TO_SETTLE = 3

const places = new Map<string, Place>()

/**
 * Remembers at which post each visit of a page was left, and on going back returns there once `ready` says that its
 * posts are shown. By post, not by pixel: what stands above may have changed meanwhile.
 */
export function useScrollPlace(ready: boolean): void {
  const visit = useLocation().key
  const isReturn = useNavigationType() === 'POP'
  const returned = useRef<string>(undefined)

  useLayoutEffect(() => {
    history.scrollRestoration = 'manual'
    if (!ready || returned.current === visit) return
    returned.current = visit
    if (isReturn) returnTo(places.get(visit))
  }, [visit, isReturn, ready])

  useLayoutEffect(() => {
    if (!ready) return
    let place: Place | undefined
    const remember = () => {
      place = placeNow() ?? place
    }
    addEventListener('scroll', remember, { passive: true })
    return () => {
      removeEventListener('scroll', remember)
      const focusedId = focusedArticle()?.dataset.postId
      const last = place ?? places.get(visit) ?? placeNow()
      if (last) places.set(visit, { ...last, focusedId })
    }
  }, [visit, ready])
}

function placeNow(): Place | undefined {
  const article = firstVisibleArticle()
  const postId = article?.dataset.postId
  if (!article || !postId) return undefined
  return { postId, top: article.getBoundingClientRect().top, focusedId: undefined }
}

function returnTo(place: Place | undefined): void {
  const article = place && articleOf(place.postId)
  if (!article) return
  holdAt(article, place.top, FRAMES_TO_SETTLE)
  if (place.focusedId) articleOf(place.focusedId)?.focus({ preventScroll: true })
}

/** Brings an article to `top` (px), and again for some frames: those above take their true height as they come near. */
function holdAt(article: HTMLElement, top: number, frames: number): void {
  scrollBy(0, article.getBoundingClientRect().top - top)
  if (frames > 0) requestAnimationFrame(() => holdAt(article, top, frames - 1))
}
