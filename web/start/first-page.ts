import type { QueryClient } from '@tanstack/react-query'
import { FIRST_PAGE_ID, type FirstPage, type Page } from '../../contract/pages.ts'
import { threadTitle } from '../../contract/post-rules.ts'
import { headerTitle } from '../history/use-page-title.ts'
import { isStale, setRenderedAt } from '../http/server-clock.ts'
import { seedList } from '../posts/cache/list-cache.ts'
import { authorKey, searchStateKey, seedPost } from '../posts/cache/posts.queries.ts'
import { repliesSource, seedAncestors } from '../replies/replies.queries.ts'
import { siteState } from '../session/site-state.ts'
import { seedText } from '../texts/texts.queries.ts'

export function readFirstPage(): FirstPage | null {
  const json = document.getElementById(FIRST_PAGE_ID)?.textContent
  return json ? JSON.parse(json) : null
}

/** Puts the data of a served page into the caches, so that the first render reads nothing. */
export function showFirstPage(
  client: QueryClient,
  first: FirstPage,
  { entryKey, page }: { entryKey: string; page: Page | null },
): void {
  const postId = page?.name === 'post' ? page.id : ''
  const username = page && 'username' in page ? page.username : ''
  setRenderedAt(first.now)
  siteState.set(first.site)
  isStale.set(first.saved ?? false)
  headerTitle.set(headerTitleOf(first))
  if (first.shows === 'wall') {
    seedList(client, { name: 'wall', entryKey, cursor: first.cursor }, first.posts)
  } else if (first.shows === 'post') {
    const { name } = repliesSource(first.post.id)
    seedPost(client, postId, first.post)
    if (first.ancestors) seedAncestors(client, postId, first.ancestors)
    seedList(client, { name, entryKey, cursor: first.cursor }, first.replies)
  } else if (first.shows === 'author') {
    const name = `${first.list} ${first.author.id}` as const
    client.setQueryData(authorKey(first.author.username), first.author)
    seedList(client, { name, entryKey, cursor: first.cursor }, first.posts)
  } else if (first.shows === 'search') {
    seedList(client, { name: 'search', entryKey, cursor: first.cursor }, first.posts)
    client.setQueryData(searchStateKey(entryKey), first.search)
  } else if (first.shows === 'missing author') client.setQueryData(authorKey(username), null)
  else if (first.shows === 'text') seedText(client, first.name, first.text)
  else if (first.shows === 'missing post') seedPost(client, postId, null)
}

function headerTitleOf(first: FirstPage): string | undefined {
  if (first.shows === 'post') return threadTitle(first.post)
  if (first.shows === 'text') return first.text.title
  if (first.shows === 'search') return 'Поиск'
  return first.shows === 'missing post' ? 'Запись' : undefined
}
