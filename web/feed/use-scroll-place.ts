import { useLayoutEffect, useRef } from 'react'
import { useLocation, useNavigationType } from 'react-router'
import { articleOf, firstVisibleArticle, focusedArticle } from './articles.ts'

/** Where a visit of a page was left: the first visible post, its distance (px) from the top, and the focused post. */
type Place = { postId: string; top: number; focusedId: string | undefined }

/** How many frames it takes until the posts above have their true height. */
const FRAMES_TO_RENDER = 3

const places = new Map<string, Place>()

/**
 * Remembers at which post each visit of a page was left, and returns there when the person goes back, once `ready` says
 * that the posts are shown. By post, not by pixel: the posts above may have changed meanwhile.
 */
export function useScrollPlace(ready: boolean): void {
  const visit = useLocation().key
  const isReturn = useNavigationType() === 'POP'
  const returned = useRef<string>(undefined)

  useLayoutEffect(() => {
    history.scrollRestoration = 'manual'
    if (!ready || returned.current === visit) return
    returned.current = visit
    if (isReturn) restore(places.get(visit))
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

function restore(place: Place | undefined): void {
  const article = place && articleOf(place.postId)
  if (!article) return
  scrollToTop(article, place.top, FRAMES_TO_RENDER)
  if (place.focusedId) articleOf(place.focusedId)?.focus({ preventScroll: true })
}

/** Scrolls an article to `top` (px), and again for some frames: posts above get their true height only when rendered. */
function scrollToTop(article: HTMLElement, top: number, frames: number): void {
  scrollBy(0, article.getBoundingClientRect().top - top)
  if (frames > 0) requestAnimationFrame(() => scrollToTop(article, top, frames - 1))
}
