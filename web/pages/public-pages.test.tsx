import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { renderToString } from 'react-dom/server'
import { Route, Routes, StaticRouter } from 'react-router'
import { expect, test } from 'vitest'
import type { Post } from '../../contract/posts.ts'
import { type CachedPages, pagesKey } from '../posts/cache/list-cache.ts'
import { putPosts } from '../posts/cache/post-cache.ts'
import { Toaster } from '../ui/toaster.tsx'
import { PostPage } from './post-page.tsx'
import { WallPage } from './wall.tsx'

const POST: Post = {
  id: '7',
  text: 'Слышно ли меня? https://example.org/',
  created_at: 1_700_000_000,
  is_modified: true,
  owner: { id: 'u1', username: 'olga_v' },
  actions: {
    is_liked: false,
    likes_count: 1400,
    replies_count: 2,
    parent_post_id: '6',
    replied_post_id: '6',
    replied_post: null,
  },
}

/** Renders as on a server, without window, document and storage. */
function render(path: string, page: ReactNode): string {
  const client = new QueryClient()
  const ids = putPosts(client, [POST])
  client.setQueryData<CachedPages>(pagesKey('wall', 'default'), {
    pages: [{ ids, nextCursor: null, total: 1 }],
    pageParams: [null],
  })
  return renderToString(
    <QueryClientProvider client={client}>
      <StaticRouter location={path}>
        <Toaster>{page}</Toaster>
      </StaticRouter>
    </QueryClientProvider>,
  )
}

test('the wall renders where there is no browser', () => {
  expect(typeof document).toBe('undefined')
  const html = render('/', <WallPage />)
  expect(html).toContain('olga_v')
  expect(html).toContain('href="/posts/7"')
  expect(html).toContain('1,4 тыс.')
  expect(html).toContain('Запись удалена')
  expect(html).toMatch(/<a [^>]*href="https:\/\/example\.org\/"[^>]*rel="nofollow ugc noopener"/)
})

test('the page of a post renders where there is no browser', () => {
  const html = render(
    '/posts/7',
    <Routes>
      <Route path="/posts/:id" element={<PostPage />} />
    </Routes>,
  )
  expect(html).toContain('Слышно ли меня?')
  expect(html).toContain('Ответы')
  expect(html).toContain('изменено')
})
