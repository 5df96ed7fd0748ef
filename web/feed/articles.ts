/** Finding one's way among the articles of a page: plain DOM, for keys and for scrolling back. */

import { postPath } from '../../contract/pages.ts'

const ARTICLE = 'article[data-post-id]'

/** The post the focus stands in, or undefined. */
export function focusedArticle(): HTMLElement | undefined {
  return document.activeElement?.closest<HTMLElement>(ARTICLE) ?? undefined
}

/** The post that the page is about, where it is about one. */
export function pageArticle(): HTMLElement | undefined {
  return articles().find(({ dataset: { postId = '' } }) => postPath(postId) === location.pathname)
}

/** The first post of which something shows below the sticky header. */
export function firstVisibleArticle(): HTMLElement | undefined {
  const top = headerBottom() + 1
  const all = articles()
  // By halves: they stand in their order, and asking each of a thousand where it is would slow scrolling down.
  let first = 0
  let end = all.length
  while (first < end) {
    const middle = (first + end) >> 1
    if ((all[middle]?.getBoundingClientRect().bottom ?? 0) > top) end = middle
    else first = middle + 1
  }
  return all[first]
}

/** The article of a post, where the page shows it. */
export function articleOf(postId: string): HTMLElement | undefined {
  return articles().find((article) => article.dataset.postId === postId)
}

/** Whether anything of a post shows in the window. */
export function isInSight(postId: string): boolean {
  const box = articleOf(postId)?.getBoundingClientRect()
  return box !== undefined && box.bottom > headerBottom() && box.top < innerHeight
}

/** Moves the focus `step` articles on from the focused one; from nowhere, to the first that is visible. */
export function moveFocus(step: 1 | -1): void {
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

function articles(): HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>(ARTICLE)]
}

function headerBottom(): number {
  return document.querySelector('header')?.getBoundingClientRect().bottom ?? 0
}
