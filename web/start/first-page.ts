import { FIRST_PAGE_ID, type FirstPage, type Page } from '../../contract/pages.ts'
import { threadTitle } from '../../contract/post-rules.ts'
import { headerTitle } from '../history/entry.tsx'
import { queryClient } from '../http/query-client.ts'
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
export function cacheFirstPage(
  first: FirstPage,
  { entryKey, page }: { entryKey: string; page: Page | null },
): void {
  const postId = page?.name === 'post' ? page.id : ''
  const username = page && 'username' in page ? page.username : ''
  setRenderedAt(first.now, first.saved ? undefined : secondsSinceSent())
  siteState.set(first.site)
  isStale.set(first.saved ?? false)
  headerTitle.set(headerTitleOf(first))
  if (first.shows === 'wall') {
    seedList({ name: 'wall', entryKey, cursor: first.cursor }, first.posts)
  } else if (first.shows === 'post') {
    const { name } = repliesSource(first.post.id)
    seedPost(postId, first.post)
    if (first.ancestors) seedAncestors(postId, first.ancestors)
    seedList({ name, entryKey, cursor: first.cursor }, first.replies)
  } else if (first.shows === 'author') {
    const name = `${first.list} ${first.author.id}` as const
    queryClient.setQueryData(authorKey(first.author.username), first.author)
    seedList({ name, entryKey, cursor: first.cursor }, first.posts)
  } else if (first.shows === 'search') {
    seedList({ name: 'search', entryKey, cursor: first.cursor }, first.posts)
    queryClient.setQueryData(searchStateKey(entryKey), first.search)
  } else if (first.shows === 'missing author') queryClient.setQueryData(authorKey(username), null)
  else if (first.shows === 'text') seedText(first.name, first.text)
  else if (first.shows === 'missing post') seedPost(postId, null)
}

/** Returns the age of the page; undefined if the browser may have stored it. */
function secondsSinceSent(): number | undefined {
  const entries = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[]
  const [navigation] = entries
  if (!navigation || navigation.type === 'back_forward') return undefined
  // The service worker marks the pages that it has stored. Without it, a size shows the network.
  const isFromNetwork = navigation.workerStart > 0 || navigation.transferSize > 0
  return isFromNetwork ? (performance.now() - navigation.responseStart) / 1000 : undefined
}

function headerTitleOf(first: FirstPage): string | undefined {
  if (first.shows === 'post') return threadTitle(first.post)
  if (first.shows === 'text') return first.text.title
  if (first.shows === 'search') return 'Поиск'
  return first.shows === 'missing post' ? 'Запись' : undefined
}
