/** Finds the articles of a page in the DOM, for shortcuts and the scroll position. */

import { postPath } from '../../contract/pages.ts'

const ARTICLE = 'article[data-post-id]'

export function focusedArticle(): HTMLElement | undefined {
  return document.activeElement?.closest<HTMLElement>(ARTICLE) ?? undefined
}

/** Returns the article of the post that the page is about. */
export function pageArticle(): HTMLElement | undefined {
  return articles().find(({ dataset: { postId = '' } }) => postPath(postId) === location.pathname)
}

/** Returns the first article that is at least partly visible below the sticky header. */
export function firstVisibleArticle(): HTMLElement | undefined {
  const top = headerBottom() + 1
  const all = articles()
  // Bisects, because measuring each of a thousand articles would slow down scrolling.
  let first = 0
  let end = all.length
  while (first < end) {
    const middle = (first + end) >> 1
    if ((all[middle]?.getBoundingClientRect().bottom ?? 0) > top) end = middle
    else first = middle + 1
  }
  return all[first]
}

export function articleOf(postId: string): HTMLElement | undefined {
  return articles().find((article) => article.dataset.postId === postId)
}

export function isInSight(postId: string): boolean {
  const box = articleOf(postId)?.getBoundingClientRect()
  return box !== undefined && box.bottom > headerBottom() && box.top < innerHeight
}

/** Moves the focus to the next or previous article; if none has it, to the first visible one. */
export function focusArticle(step: 1 | -1): void {
  const from = focusedArticle()
  const all = articles()
  const to = from ? all[all.indexOf(from) + step] : firstVisibleArticle()
  if (!to) return
  to.focus({ preventScroll: true })
  to.scrollIntoView({ block: isWholeInSight(to) ? 'nearest' : 'start' })
}

function isWholeInSight(article: HTMLElement): boolean {
  const { top, bottom } = article.getBoundingClientRect()
  return top >= headerBottom() && bottom <= innerHeight
}

/** Uses a live collection, because searching a thousand posts would slow down scrolling. */
function articles(): HTMLElement[] {
  return [...document.getElementsByTagName('article')].filter((it) => it.matches(ARTICLE))
}

function headerBottom(): number {
  return document.querySelector('header')?.getBoundingClientRect().bottom ?? 0
}
