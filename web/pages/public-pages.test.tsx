import { QueryClientProvider } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { renderToString } from 'react-dom/server'
import { expect, test } from 'vitest'
import { authorPath } from '../../contract/pages.ts'
import { makePost } from '../../contract/post.fixture.ts'
import type { Post } from '../../contract/posts.ts'
import { PROFILE, PROFILE_TEXTS } from '../../contract/profile.fixture.ts'
import { entryAt, HistoryProvider } from '../history/entry.tsx'
import { queryClient } from '../http/query-client.ts'
import { type ListName, pagesKey, setOnlyPage } from '../posts/cache/list-cache.ts'
import { putPosts } from '../posts/cache/post-cache.ts'
import { authorKey } from '../posts/cache/posts.queries.ts'
import { AuthorPage } from './author.tsx'
import { PostPage } from './post-page.tsx'
import { LikedPage } from './viewer-feeds.tsx'
import { WallPage } from './wall.tsx'

const POST: Post = {
  ...makePost('7', {
    likes_count: 1400,
    replies_count: 2,
    parent_post_id: '6',
    replied_post_id: '6',
  }),
  text: 'Слышно ли меня? С 1983-го: https://example.org/',
  is_modified: true,
}

type Options = { post?: Post; list?: ListName; ids?: string[]; nextCursor?: string }

/** Renders as on a server, without window, document and storage. */
function render(path: string, content: ReactNode, options: Options = {}): string {
  const { post = POST, list = 'wall', ids = ['7'], nextCursor = null } = options
  queryClient.clear()
  putPosts([post, { ...post, id: '8' }])
  queryClient.setQueryData(authorKey(PROFILE.username), PROFILE)
  const page = { ids, nextCursor, cursor: '', total: ids.length, above: 0 }
  setOnlyPage(pagesKey(list, 'default'), page)
  return renderToString(
    <QueryClientProvider client={queryClient}>
      <HistoryProvider entry={entryAt(path)}>{content}</HistoryProvider>
    </QueryClientProvider>,
  )
}

test('a text can be copied from its page as it was written', () => {
  const address = `https://example.org/${'a'.repeat(100)}`
  const post = { ...POST, text: `С 5-го числа, сборка v4-rc: ${address}` }
  for (const html of [
    render('/', <WallPage />, { post }),
    render('/posts/7', <PostPage />, { post }),
  ]) {
    expect(html).toContain(' class="')
    expect(html.replace(/<[^>]+>/g, '')).toContain(post.text)
  }
})

test('the wall renders without a browser', () => {
  expect(typeof document).toBe('undefined')
  const html = render('/', <WallPage />)
  expect(html).toContain('olga_v')
  expect(html).toContain('href="/posts/7"')
  expect(html).toMatch(/>1,4 тыс\.<\/span><span [^>]*> отметок «Нравится»</)
  expect(html).toContain('Запись удалена')
  // A number keeps its ending on its line.
  expect(html).toMatch(/198<span class="[^"]+">3-го<\/span>/)
  expect(html).toMatch(/<a [^>]*href="https:\/\/example\.org\/"[^>]*rel="nofollow ugc noopener"/)
  expect(html).toMatch(
    /<a [^>]*title="https:\/\/example\.org\/" dir="ltr"[^>]*><span [^>]*aria-hidden="true">https:\/\/<\/span>example\.org<span /,
  )
  expect(html).toMatch(/<p [^>]*dir="auto"[^>]*>Слышно/)
})

test('the end of a list is marked, and only the end', () => {
  expect(render('/', <WallPage />, { ids: ['7', '8'] })).toContain('Это все записи')
  for (const options of [{ ids: ['7'] }, { nextCursor: 'next' }]) {
    expect(render('/', <WallPage />, options)).not.toContain('Это все записи')
  }
})

test('an empty list offers a next step; an empty list of replies shows the same text below the reply row', () => {
  const liked = render('/liked', <LikedPage />, { list: 'liked', ids: [] })
  expect(liked).toMatch(/<h2 [^>]*>Записи не найдены<\/h2>.*<a [^>]*href="\/"[^>]*>На стену<\/a>/)
  const replies = render('/posts/7', <PostPage />, { list: 'replies 7', ids: [] })
  expect(replies).toMatch(
    /Войдите, чтобы ответить.*<p>Записи не найдены<\/p><p>Возможно, записи скоро появятся<\/p>/,
  )
  expect(replies).not.toContain('Это все записи')
})

test('the page of a reply to a reply links to the start of the thread', () => {
  const post = { ...POST, actions: { ...POST.actions, parent_post_id: '5' } }
  const link = /<a [^>]*href="\/posts\/5"[^>]*>.*К началу ветки<\/a>/
  expect(render('/posts/7', <PostPage />, { post })).toMatch(link)
  expect(render('/posts/7', <PostPage />)).not.toContain('К началу ветки')
})

test.each(PROFILE_TEXTS)('the page of an author shows the %s', (text) => {
  const list = `author ${PROFILE.id}` as const
  const html = render(authorPath(PROFILE.username), <AuthorPage />, { list })
  expect(html).toContain(`>${text}</`)
})
